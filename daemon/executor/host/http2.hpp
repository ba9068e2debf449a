#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"

// Private to the module.

namespace kubexm::executor::http2 {

using Deadline = std::chrono::steady_clock::time_point;

struct Header {
    std::string_view name;
    std::string_view value;
};

struct Request {
    std::string path;
    std::vector<Header> headers;
    std::string body;
};

struct Answer {
    std::map<std::string, std::string, std::less<>> headers;  // with the trailers
    std::string body;
};

/// POSTs at once over a new connection to a unix socket, with HTTP/2 from the first byte: an answer
/// for each. not_found: no server at the socket. timeout: the deadline passed. unavailable: the
/// server closed the connection, violated the protocol or sent more than the limit.
std::vector<Result<Answer>> post_all(const std::string& socket, std::span<const Request> requests,
                                     Deadline deadline);

}  // namespace kubexm::executor::http2
