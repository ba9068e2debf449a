#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "daemon/base/error.hpp"

namespace kubexm::config {

inline constexpr std::size_t kMaxFileBytes = std::size_t{256} * 1024;

/// The content of a regular file. not_found: no such file. A dangling symbolic link is invalid:
/// defaults must not silently replace a configuration.
Result<std::string> read_config(const std::string& path);

/// The same, of a file that only `owner` can change. denied: another owner, or writable for its
/// group or others. The checked file is the one that is read.
Result<std::string> read_config_of(const std::string& path, uid_t owner);

}  // namespace kubexm::config
