#pragma once

#include <sys/un.h>

#include <string>

#include "daemon/base/error.hpp"

namespace kubexm {

/// The address of a unix socket. invalid: the path is not absolute, or longer than 107 bytes.
Result<sockaddr_un> unix_address(const std::string& path);

}  // namespace kubexm
