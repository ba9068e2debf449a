#pragma once

#include <sys/types.h>

#include <map>
#include <string>

#include "daemon/base/error.hpp"

namespace kubexm::config {

/// The component files that root trusts: "kubelet/v1.34.1/kubelet" to its SHA-256, from a file as
/// sha256sum prints it; '#' begins a comment. Without the file none is trusted. denied: a user
/// other than `owner` can write the file. invalid: names the line that is malformed or has another
/// digest for an earlier name.
Result<std::map<std::string, std::string>> load_trust(const std::string& file, uid_t owner);

}  // namespace kubexm::config
