#pragma once

#include <chrono>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/pki/key.hpp"

namespace kubexm::pki {

/// A serving certificate in PEM for the DNS name `host` that the key signs itself, valid from
/// `now`. invalid: no DNS name.
Result<std::string> self_signed(const Key& key, const std::string& host,
                                std::chrono::sys_seconds now, std::chrono::seconds lifetime);

}  // namespace kubexm::pki
