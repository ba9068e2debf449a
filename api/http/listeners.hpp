#pragma once

#include <cstdint>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::http {

// Sockets are bound here, not by Drogon, which ends the process when it cannot, and knows no unix
// sockets.

/// A listening socket on a loopback address.
Result<Fd> listen_tcp(const std::string& address, std::uint16_t port);

/// The port that a socket is bound to.
std::uint16_t port_of(const Fd& socket);

/// A listening socket at a path, for its owner and the group of its directory where that is setgid.
Result<Fd> listen_unix(const std::string& path);

}  // namespace kubexm::http
