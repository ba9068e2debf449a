#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/deadline.hpp"
#include "daemon/base/error.hpp"

// Private to the module.

namespace kubexm::executor::http2 {

struct HeaderField {
    std::string_view name;
    std::string_view value;
};

struct PostRequest {
    std::string path;
    std::vector<HeaderField> headers;
    std::string body;
};

struct PostAnswer {
    std::map<std::string, std::string, std::less<>> headers;  // with the trailers
    std::string body;
};

/// POSTs at once over a new connection to a unix socket, with HTTP/2 from the first byte: an answer
/// for each. not_found: no server at the socket. timeout: the deadline passed. unavailable: the
/// server closed the connection, violated the protocol or sent more than the limit.
std::vector<Result<PostAnswer>> post_all(const std::string& socket,
                                         std::span<const PostRequest> requests, Deadline deadline);

}  // namespace kubexm::executor::http2
