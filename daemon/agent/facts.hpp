#pragma once

#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// The name of the ByoHost and the Node: the configured one; empty: that of the host now, in lower
/// case. invalid: not a node name.
Result<std::string> read_name(const std::string& configured);

/// Facts of this host, read now; none needs a privilege. `name`: as read_name().
Result<model::HostFacts> read_facts(const std::string& name);

/// A network interface as the kernel has it.
struct Link {
    model::Interface interface;
    bool is_hardware = false;
};

/// All links with their addresses, in the kernel's order.
std::vector<Link> read_links();

/// The interfaces that are this host's own: without those that a pod network makes. Pure.
std::vector<model::Interface> interfaces_of(const std::vector<Link>& links);

/// PRETTY_NAME of an os-release file as the BYOH provider writes it: without quotes and " LTS";
/// "Unknown" where it is missing. Pure.
std::string os_image_of(std::string_view os_release);

/// The interface of the IPv4 default route in the text of /proc/net/route, or nothing. Pure.
std::string default_interface_of(std::string_view routes);

}  // namespace kubexm::agent
