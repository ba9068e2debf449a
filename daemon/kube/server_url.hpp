#pragma once

#include <string>
#include <string_view>

#include "daemon/base/error.hpp"

namespace kubexm::kube {

/// The parts of "https://host:6443/prefix".
struct ServerUrl {
    std::string host;  // an IPv6 address has its brackets
    std::string port;
    std::string path;  // of a proxy in front of the API server; no slash at the end, mostly empty

    std::string text() const;
};

/// client-go's rule: without a scheme it is https. invalid: another scheme, a user, a query, a
/// fragment, or no URL; does not quote it, since a user's password may be in it.
Result<ServerUrl> read_server_url(std::string_view text);

}  // namespace kubexm::kube
