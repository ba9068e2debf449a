#pragma once

#include <sys/types.h>

#include <map>
#include <string>

#include "daemon/base/error.hpp"

namespace kubexm::config {

/// The component files that root trusts: "kubelet/v1.34.1/kubelet" to its SHA-256, from a file as
/// sha256sum prints it; '#' begins a comment. A file that is missing trusts nothing. denied:
/// somebody besides `owner` could have written it. invalid: names the line, also where a name is
/// there twice with different digests.
Result<std::map<std::string, std::string>> load_trust(const std::string& file, uid_t owner);

}  // namespace kubexm::config
