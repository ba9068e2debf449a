#pragma once

#include <map>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/executor/host/files.hpp"

// Private to the module: owner, mode and extended attributes through a descriptor (O_PATH will do).

namespace kubexm::executor {

/// Every extended attribute that this process may see.
Result<std::map<std::string, std::string>> read_xattrs(int fd, std::string_view object);

/// Gives the object these attributes; what is so already is not touched. All are tried: the error
/// names each one that this process or file system may not set, the others are set. A symbolic
/// link has no mode of its own.
Result<> apply_attributes(int fd, const Attributes& wanted, std::string_view object);

}  // namespace kubexm::executor
