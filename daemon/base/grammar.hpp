#pragma once

#include <string_view>

namespace kubexm {

/// What a text must be to become part of a file. `words` complete "expected ..." for a person.
struct Rule {
    bool (*holds)(std::string_view text);
    std::string_view words;
};

// The grammars of parameters, each with the words that explain it. None lets through a control
// character, a quote, a backslash, "%", "$" or anything beyond ASCII, and white space only between
// the words of a kernel parameter: a parameter is the same text in every syntax that we write.

// names.cpp

/// Letters in lower case, digits and "-" between dots: at most 253, and 63 between two dots.
bool is_dns_name(std::string_view text);
bool is_node_name(std::string_view text);
bool is_provider_id(std::string_view text);
bool is_label_key(std::string_view text);
bool is_label_value(std::string_view text);  // may be empty

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

// addresses.cpp

/// HOST or HOST:PORT; an IPv6 address stands in brackets.
bool is_endpoint(std::string_view text);
bool is_server_url(std::string_view text);
bool is_proxy_url(std::string_view text);
bool is_no_proxy_list(std::string_view text);
bool is_node_address(std::string_view text);
bool is_dns_server(std::string_view text);

inline constexpr Rule kServerUrl{is_server_url, "https://HOST or https://HOST:PORT"};
inline constexpr Rule kProxyUrl{
    is_proxy_url,
    "http://, https:// or socks5:// and HOST:PORT, without user and password: a plan keeps no "
    "secret"};
inline constexpr Rule kNoProxyList{
    is_no_proxy_list,
    "names, .domains, addresses and networks with commas between them and no white space"};
inline constexpr Rule kNodeAddress{
    is_node_address,
    "an address of the node, or one IPv4 and one IPv6 address with a comma between them"};
inline constexpr Rule kDnsServer{is_dns_server, "an IPv4 or IPv6 address that pods can reach"};

// image.cpp

bool is_image_reference(std::string_view text);

inline constexpr Rule kImageReference{
    is_image_reference, "an image, such as registry.k8s.io/pause:3.10 or one with @sha256:..."};

// kernel.cpp

bool is_sysctl_key(std::string_view text);
bool is_sysctl_value(std::string_view text);
bool is_module_name(std::string_view text);

inline constexpr Rule kSysctlKey{is_sysctl_key, "a kernel parameter, such as net.ipv4.ip_forward"};
inline constexpr Rule kSysctlValue{
    is_sysctl_value, "numbers, or words of letters, digits and . , : _ -, with one space between"};
inline constexpr Rule kModuleName{is_module_name, "a kernel module, such as br_netfilter"};

}  // namespace kubexm
