#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/model/snapshot.hpp"

namespace kubexm::api {

// The API as a pure function; api/openapi.yaml is its contract.

/// Untrusted input.
struct Request {
    std::string method;  // "GET"
    std::string path;    // without the query
    std::string host;    // the Host header
    std::string if_none_match;
    bool over_tcp = true;  // false: over the unix socket
};

using Header = std::pair<std::string_view, std::string>;

struct Response {
    int status = 200;
    std::string_view content_type;
    std::vector<Header> headers;
    std::string body;
};

Response answer(const Request& request, const model::Snapshot& snapshot);

}  // namespace kubexm::api
