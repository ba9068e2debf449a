#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/names.hpp"
#include "daemon/model/command.hpp"
#include "daemon/model/snapshot.hpp"

namespace kubexm::api {

// The API as a pure function; api/openapi.yaml is its contract.

/// The listener that a request came through.
enum class ListenerKind {
    tcp,      // loopback: any user, read-only
    socket,   // unix socket of group kubexm-read, read-only
    control,  // unix socket of root
};

/// Untrusted input, except listener and uid.
struct ClientRequest {
    std::string method;  // "GET"
    std::string path;    // without the query
    std::string host;    // the Host header
    std::string if_none_match;
    std::string body;
    ListenerKind listener = ListenerKind::tcp;
    std::optional<std::uint32_t> uid;  // of the peer, as the kernel says; nothing over TCP
};

using Header = std::pair<std::string_view, std::string>;

struct Response {
    int status = 200;
    std::string_view content_type;
    std::vector<Header> headers;
    std::string body;
};

/// A Command waits for the agent's decision; decided() is its response.
using Routed = std::variant<Response, model::Command>;

Routed answer(const ClientRequest& request, const model::Snapshot& snapshot);

/// The response to a command: 202 with the agent's text, 404 where there is nothing to do, 409
/// where it refuses, 503 where it cannot decide yet.
Response decided(const std::string& id, const Result<std::string>& decision);

}  // namespace kubexm::api

namespace kubexm {

template <>
struct Names<api::ListenerKind> {
    static constexpr std::array<std::pair<api::ListenerKind, std::string_view>, 3> kAll{{
        {api::ListenerKind::tcp, "tcp"},
        {api::ListenerKind::socket, "socket"},
        {api::ListenerKind::control, "control"},
    }};
};

}  // namespace kubexm
