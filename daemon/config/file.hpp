#pragma once

#include <sys/types.h>

#include <string>

#include "daemon/base/error.hpp"

namespace kubexm::config {

/// The whole content of a regular file that is not too large. not_found: there is no such file.
Result<std::string> read_file(const std::string& path);

/// The same, of a file that only `owner` can change. denied: it is somebody else's, or its group
/// or others may write. The file that is checked is the one that is read.
Result<std::string> read_file_of(const std::string& path, uid_t owner);

}  // namespace kubexm::config
