#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/base/names.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::kube {

// Events (core/v1) about the ByoHost of this host, to JSON. Pure.

enum class EventType { normal, warning };

struct HostEvent {
    EventType type = EventType::normal;
    std::string reason;  // in CamelCase, for programs
    std::string message;

    bool operator==(const HostEvent&) const = default;
};

/// A HostEvent and its repeats: one Event of the API.
struct EventSeries {
    HostEvent event;
    std::string name;
    std::string first;  // RFC 3339
    std::string last;
    std::uint32_t count = 0;
};

std::string events_path(const std::string& namespace_);
std::string event_path(const std::string& namespace_, const std::string& name);

/// "<host>.<digits>", a DNS name. A long host name is cut.
std::string event_name(std::string_view host, std::string_view digits);

/// To create the Event. `host` refers to the ByoHost.
nlohmann::json new_event(const EventSeries& series, const model::Reference& host,
                         const std::string& resource_version);

/// To count the repeats of an Event that exists.
nlohmann::json repeats_patch(const EventSeries& series);

}  // namespace kubexm::kube

namespace kubexm {

template <>
struct Names<kube::EventType> {
    static constexpr std::array<std::pair<kube::EventType, std::string_view>, 2> kAll{{
        {kube::EventType::normal, "Normal"},
        {kube::EventType::warning, "Warning"},
    }};
};

}  // namespace kubexm
