#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/host/files.hpp"
#include "daemon/executor/steps/context.hpp"
#include "daemon/executor/steps/pre_image.hpp"

namespace kubexm::executor {

/// When forwarding is set for the host, the kernel sets it for every interface as well, and IPv4
/// accept_redirects to the opposite (net/ipv4/devinet.c, net/ipv6/addrconf.c). Returns the settings
/// that differ from the ones that setting `key` to `value` would make; none for other keys.
Result<std::vector<Setting>> exceptions_to(const Root& root, const std::string& key,
                                           const std::string& value);

/// The bridges of the host, where `key` sets forwarding; else none. They may need it.
Result<std::optional<std::vector<std::string>>> bridges_for(const Context& context,
                                                            const std::string& key);

/// Those that are not in `before` and not of a pod network.
Result<std::vector<std::string>> bridges_of_others(
    const Context& context, const std::optional<std::vector<std::string>>& before);

}  // namespace kubexm::executor
