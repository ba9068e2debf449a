#pragma once

#include <map>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"
#include "daemon/executor/host/files.hpp"

// Private to the module: owner, mode and extended attributes through a descriptor (O_PATH
// suffices).

namespace kubexm::executor {

/// All extended attributes that this process may read.
Result<std::map<std::string, std::string>> read_xattrs(int fd, std::string_view object);

/// Sets the attributes that differ. All are tried: the error names each one that could not be set.
/// The mode of a symbolic link is ignored.
Result<> apply_attributes(int fd, const Attributes& desired, std::string_view object);

}  // namespace kubexm::executor
