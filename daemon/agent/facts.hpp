#pragma once

#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// What is to be known of this host without any privilege. `name`: what it is called in the
/// management cluster; empty: its host name, in lower case as Kubernetes wants it. invalid: that is
/// no name that Kubernetes takes.
Result<model::HostFacts> read_facts(const std::string& name);

/// All interfaces with their addresses, in the kernel's order.
std::vector<model::Interface> read_interfaces();

/// PRETTY_NAME of an os-release file as the provider wants it: without quotes and " LTS"; "Unknown"
/// where there is none. Pure.
std::string os_image_of(std::string_view os_release);

/// The interface of the IPv4 default route in the text of /proc/net/route, or nothing. Pure.
std::string default_interface_of(std::string_view routes);

}  // namespace kubexm::agent
