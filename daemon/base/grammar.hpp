#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kubexm {

/// A predicate on a text, and the words that complete "expected ..." in a message.
struct Rule {
    bool (*holds)(std::string_view text);
    std::string_view words;
};

// Names and addresses: grammar_names.cpp, grammar_addresses.cpp, grammar_image.cpp,
// grammar_kernel.cpp. None of them accepts a control character, a quote, "%", "$" or a character
// beyond ASCII, nor, except in the value of a kernel parameter, white space. A unit name may
// contain a backslash. Such a text needs no escaping in any file that we write.

/// Lower-case letters, digits and "-" inside, at most 63.
bool is_dns_label(std::string_view text);
/// DNS labels with dots between them, at most 253 characters.
bool is_dns_name(std::string_view text);
bool is_node_name(std::string_view text);
bool is_provider_id(std::string_view text);
bool is_label_key(std::string_view text);
bool is_label_value(std::string_view text);  // may be empty
/// As useradd accepts it by default.
bool is_user_name(std::string_view text);
/// The name of one unit in systemd's grammar; no template, no glob.
bool is_unit_name(std::string_view text);
/// The name of a directory below /opt/kubexm.
bool is_component_name(std::string_view text);
/// NAME.crt, without a directory.
bool is_certificate_name(std::string_view text);

inline constexpr Rule kDnsLabel{is_dns_label, "at most 63 lower-case letters, digits and -"};
inline constexpr Rule kDnsName{is_dns_name, "a DNS name in lower case, such as cluster.local"};
inline constexpr Rule kNodeName{
    is_node_name,
    "a DNS name in lower case of at most 63 characters (it becomes label kubernetes.io/hostname)"};
inline constexpr Rule kProviderId{
    is_provider_id, "SCHEME://NAME of letters, digits and . _ - /, such as byoh://host-1"};
inline constexpr Rule kLabelKey{is_label_key, "a label key, such as example.com/site"};
inline constexpr Rule kLabelValue{
    is_label_value,
    "at most 63 letters, digits and . _ -, with a letter or digit at both ends, or nothing"};
inline constexpr Rule kUserName{is_user_name, "a user name, such as kubexm"};
inline constexpr Rule kUnitName{is_unit_name, "a unit name, such as kubelet.service"};
inline constexpr Rule kComponentName{is_component_name, "a component name, such as kubelet"};
inline constexpr Rule kCertificateName{
    is_certificate_name, "a file name of at most 64 letters, digits and . _ - that ends in .crt"};

/// 1 to 65535, without leading zeros.
bool is_port(std::string_view text);
struct Endpoint {
    std::string_view host;  // an IPv6 address without brackets
    std::optional<std::uint16_t> port;
};
/// HOST or HOST:PORT; an IPv6 address is in brackets.
std::optional<Endpoint> endpoint_from(std::string_view text);
bool is_endpoint(std::string_view text);
bool is_server_url(std::string_view text);
bool is_proxy_url(std::string_view text);
/// http:// or https:// and an endpoint, without a path.
bool is_registry_url(std::string_view text);
bool is_no_proxy_list(std::string_view text);
bool is_node_address(std::string_view text);
bool is_dns_server(std::string_view text);
/// The addresses of the pods of a node.
bool is_ipv4_pod_subnet(std::string_view text);
bool is_ipv6_pod_subnet(std::string_view text);
/// The name of a network interface.
bool is_link_name(std::string_view text);

inline constexpr Rule kServerUrl{is_server_url, "https://HOST or https://HOST:PORT"};
inline constexpr Rule kProxyUrl{
    is_proxy_url,
    "http://, https:// or socks5:// and HOST:PORT, without user and password: a plan keeps no "
    "secret"};
inline constexpr Rule kRegistry{is_endpoint,
                                "HOST or HOST:PORT of a registry, such as registry.k8s.io"};
inline constexpr Rule kRegistryUrl{is_registry_url,
                                   "https:// or http:// and HOST or HOST:PORT, without a path"};
inline constexpr Rule kNoProxyList{
    is_no_proxy_list,
    "names, .domains, addresses and networks with commas between them and no white space"};
inline constexpr Rule kNodeAddress{
    is_node_address,
    "an address of the node, or one IPv4 and one IPv6 address with a comma between them"};
inline constexpr Rule kDnsServer{is_dns_server, "an IPv4 or IPv6 address that pods can reach"};
inline constexpr Rule kIpv4PodSubnet{
    is_ipv4_pod_subnet, "an IPv4 network of /8 to /30 without host bits, such as 10.244.1.0/24"};
inline constexpr Rule kIpv6PodSubnet{
    is_ipv6_pod_subnet, "an IPv6 network of /8 to /126 without host bits, such as fd00:10:1::/64"};
inline constexpr Rule kLinkName{is_link_name, "the name of a network link, such as cni0"};

bool is_image_reference(std::string_view text);

inline constexpr Rule kImageReference{
    is_image_reference, "an image, such as registry.k8s.io/pause:3.10 or one with @sha256:..."};

bool is_sysctl_key(std::string_view text);
/// A key, or all keys below one: "fs.inotify.*".
bool is_sysctl_pattern(std::string_view text);
bool is_sysctl_value(std::string_view text);
bool is_module_name(std::string_view text);

inline constexpr Rule kSysctlKey{is_sysctl_key, "a kernel parameter, such as net.ipv4.ip_forward"};
inline constexpr Rule kSysctlValue{
    is_sysctl_value, "numbers, or words of letters, digits and . , : _ -, with one space between"};
inline constexpr Rule kModuleName{is_module_name, "a kernel module, such as br_netfilter"};

// Paths may hold any printable UTF-8 except a backslash: see printable() in text.hpp.

/// Absolute, in its shortest spelling, not "/" itself; at most 1024 bytes, 255 between slashes.
bool is_absolute_path(std::string_view text);
/// An absolute path that fits into the address of a unix socket.
bool is_socket_path(std::string_view text);

inline constexpr Rule kAbsolutePath{is_absolute_path,
                                    "an absolute path without //, ., .. and / at its end"};
inline constexpr Rule kSocketPath{
    is_socket_path, "an absolute path of at most 107 bytes without //, ., .. and / at its end"};

}  // namespace kubexm
