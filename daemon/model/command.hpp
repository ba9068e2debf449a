#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/base/error.hpp"
#include "daemon/base/names.hpp"

namespace kubexm::model {

/// An order of a person to kubexmd; api/openapi.yaml explains it to users.
enum class Verb {
    pause,   // no repair, no new orders
    resume,  // ends a pause, or follows orders again after a leave
    leave,   // release the host, whatever the orders say
    adopt,   // decides a held host: keep the node and follow the new orders
    repair,  // put drifted objects back now
    renew,   // renew certificates of this host now
};

/// A pause without a duration lasts until resume.
inline constexpr std::chrono::seconds kLongestPause = std::chrono::days(30);

struct Command {
    Verb verb = Verb::pause;
    std::optional<std::chrono::seconds> duration;  // of a pause; nothing: until resume
    std::uint32_t uid = 0;                         // who asked, as the kernel says
    std::string listener;                          // where: "control"
    std::string id;                                // of this request, for log and audit
    std::string certificate;                       // to be renewed; empty: all

    bool operator==(const Command&) const = default;
};

/// The body of POST /v1/operations: verb, for a pause "for" in seconds, for a renewal
/// "certificate".
std::string to_json(const Command& command);
/// Reads it from an unknown client; uid, listener and id stay empty. invalid: names the member.
Result<Command> command_from_json(std::string_view body);

}  // namespace kubexm::model

namespace kubexm {

template <>
struct Names<model::Verb> {
    static constexpr std::array<std::pair<model::Verb, std::string_view>, 6> kAll{{
        {model::Verb::pause, "pause"},
        {model::Verb::resume, "resume"},
        {model::Verb::leave, "leave"},
        {model::Verb::adopt, "adopt"},
        {model::Verb::repair, "repair"},
        {model::Verb::renew, "renew"},
    }};
};

}  // namespace kubexm
