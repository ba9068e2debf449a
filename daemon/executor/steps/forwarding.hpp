#pragma once

#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/host/files.hpp"
#include "daemon/executor/steps/pre_image.hpp"

namespace kubexm::executor {

/// Whoever sets forwarding for the host sets it for every interface as well, and IPv4 redirects to
/// the contrary: the kernel does it (net/ipv4/devinet.c, net/ipv6/addrconf.c). These are the ones
/// that are not as setting `key` to `value` would make them; none for other keys.
Result<std::vector<Setting>> exceptions_to(const Root& root, const std::string& key,
                                           const std::string& value);

}  // namespace kubexm::executor
