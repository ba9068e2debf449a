#pragma once

#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// Facts of this host that need no privilege. `name`: of the ByoHost and the Node; empty: the host
/// name, in lower case. invalid: not a node name.
Result<model::HostFacts> read_facts(const std::string& name);

/// All interfaces with their addresses, in the kernel's order.
std::vector<model::Interface> read_interfaces();

/// PRETTY_NAME of an os-release file as the BYOH provider writes it: without quotes and " LTS";
/// "Unknown" where it is missing. Pure.
std::string os_image_of(std::string_view os_release);

/// The interface of the IPv4 default route in the text of /proc/net/route, or nothing. Pure.
std::string default_interface_of(std::string_view routes);

}  // namespace kubexm::agent
