#pragma once

#include <cstdint>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::http {

// Drogon exits the process when it cannot bind, and has no unix sockets: bind here.

/// A listening socket on a loopback address.
Result<Fd> listen_tcp(const std::string& address, std::uint16_t port);

std::uint16_t port_of(const Fd& socket);

/// A listening socket at a path, for its owner and group; a setgid directory sets the group. A
/// socket file of a dead process is replaced.
Result<Fd> listen_unix(const std::string& path);

}  // namespace kubexm::http
