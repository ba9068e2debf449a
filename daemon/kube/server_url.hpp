#pragma once

#include <string>
#include <string_view>

#include "daemon/base/error.hpp"

namespace kubexm::kube {

/// Of ASCII letters; other bytes of a host's name are refused elsewhere.
std::string lower_case(std::string text);

/// The parts of "https://host:6443/prefix".
struct ServerUrl {
    std::string host;  // an IPv6 address has its brackets
    std::string port;
    std::string
        path;  // prefix of a proxy before the API server, without final slash; usually empty

    std::string text() const;
};

/// Without a scheme it is https, as in client-go. invalid: another scheme, a user, a query, a
/// fragment, or not a URL; the message does not quote it, since it may contain a password.
Result<ServerUrl> read_server_url(std::string_view text);

}  // namespace kubexm::kube
