#pragma once

#include <string_view>

namespace kubexm::config {

/// Says what a text should have been, as in "expected ...", and nothing where it is right.
using Rule = std::string_view (*)(std::string_view text);

/// Normal: no "//", ".", ".." or "/" at the end; not "/" itself.
std::string_view absolute_path(std::string_view text);
/// An absolute path that fits into the address of a unix socket.
std::string_view socket_path(std::string_view text);
/// A name that useradd would take.
std::string_view user_name(std::string_view text);
/// A unit's whole name, not a pattern: "kubelet.service".
std::string_view unit_name(std::string_view text);
std::string_view module_name(std::string_view text);
/// "" where the default is found out at run time.
std::string_view path_or_nothing(std::string_view text);
std::string_view host_name_or_nothing(std::string_view text);
/// Of a cluster: lower-case letters, digits and "-".
std::string_view namespace_name(std::string_view text);
/// An address of this host that nobody else reaches, and a port: "127.0.0.1:10240", "[::1]:10240".
std::string_view loopback_address(std::string_view text);
/// A link of the network: "cni0".
std::string_view link_name(std::string_view text);
/// A directory below /opt/kubexm.
std::string_view component_name(std::string_view text);

/// A key ("net.ipv4.ip_forward") or all keys below one ("fs.inotify.*"), and none of those that
/// are denied.
std::string_view sysctl_pattern(std::string_view text);

}  // namespace kubexm::config
