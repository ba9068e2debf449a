#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "daemon/base/grammar.hpp"
#include "daemon/base/scan.hpp"

namespace kubexm {

namespace {

struct Address {
    int family = AF_INET;
    std::array<unsigned char, 16> bytes{};  // an IPv4 address takes the first four
};

unsigned bits_of(int family) { return family == AF_INET ? 32 : 128; }

std::optional<Address> address_from(std::string_view text) {
    const std::string terminated(text);
    // inet_pton stops at a NUL.
    if (terminated.find('\0') != std::string::npos) return std::nullopt;
    for (const int family : {AF_INET, AF_INET6}) {
        Address address{.family = family};
        if (inet_pton(family, terminated.c_str(), address.bytes.data()) == 1) return address;
    }
    return std::nullopt;
}

bool is_link_local(const Address& address) {
    const auto& bytes = address.bytes;
    if (address.family == AF_INET) return bytes[0] == 169 && bytes[1] == 254;
    return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

/// An address that other hosts can send to: not unspecified, loopback, multicast or IPv4 inside
/// IPv6.
bool is_unicast(const Address& address) {
    const auto& bytes = address.bytes;
    if (address.family == AF_INET) return bytes[0] != 0 && bytes[0] != 127 && bytes[0] < 224;
    constexpr std::ptrdiff_t kSpecialPrefix = 10;
    const bool is_special = std::all_of(bytes.begin(), bytes.begin() + kSpecialPrefix,
                                        [](unsigned char byte) { return byte == 0; });
    return !is_special && bytes[0] != 0xff;
}

std::optional<unsigned> number_up_to(std::string_view text, unsigned most) {
    unsigned number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc{} && stop == text.data() + text.size() &&
                           number <= most && (text.front() != '0' || text.size() == 1);
    return is_number ? std::optional(number) : std::nullopt;
}

std::optional<std::uint16_t> port_from(std::string_view text) {
    constexpr unsigned kMaxPort = 65535;
    const unsigned port = number_up_to(text, kMaxPort).value_or(0);
    return port == 0 ? std::nullopt : std::optional(static_cast<std::uint16_t>(port));
}

bool is_ipv6_address(std::string_view text) {
    const auto address = address_from(text);
    return address && address->family == AF_INET6;
}

/// A name or an IPv4 address. A last label of digits makes it an address, as in URLs.
bool is_host(std::string_view text) {
    const std::string_view last = text.substr(text.rfind('.') + 1);
    if (made_of(last, is_digit)) return address_from(text).has_value();
    return is_dns_name(text);
}

/// `rest` of an endpoint is nothing or ":PORT".
std::optional<Endpoint> with_port(std::string_view host, std::string_view rest) {
    if (rest.empty()) return Endpoint{host, std::nullopt};
    const auto port = port_from(rest.substr(1));
    if (!rest.starts_with(':') || !port) return std::nullopt;
    return Endpoint{host, port};
}

struct Network {
    Address address;
    unsigned prefix = 0;  // bits
};

std::optional<Network> network_from(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto address = address_from(text.substr(0, slash));
    if (!address) return std::nullopt;
    const auto prefix = number_up_to(text.substr(slash + 1), bits_of(address->family));
    if (!prefix) return std::nullopt;
    return Network{*address, *prefix};
}

/// Whether the address is more than the prefix, as in 10.0.0.1/8.
bool has_host_bits(const Network& network) {
    for (unsigned bit = network.prefix; bit < bits_of(network.address.family); ++bit) {
        if ((network.address.bytes.at(bit / 8) & (0x80U >> (bit % 8))) != 0) return true;
    }
    return false;
}

/// As host-local accepts it: at least two addresses besides the first and the last one.
bool is_pod_subnet(std::string_view text, int family) {
    constexpr unsigned kShortestPrefix = 8;
    const auto network = network_from(text);
    return network && network->address.family == family && network->prefix >= kShortestPrefix &&
           network->prefix <= bits_of(family) - 2 && !has_host_bits(*network) &&
           is_unicast(network->address) && !is_link_local(network->address);
}

bool is_no_proxy_entry(std::string_view text) {
    if (text == "*" || network_from(text) || address_from(text)) return true;
    if (text.starts_with("*.")) text.remove_prefix(1);
    if (text.starts_with('.')) text.remove_prefix(1);
    return is_endpoint(text);
}

}  // namespace

bool is_port(std::string_view text) { return port_from(text).has_value(); }

std::optional<Endpoint> endpoint_from(std::string_view text) {
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        const std::string_view host = text.substr(1, end - 1);
        if (end == std::string_view::npos || !is_ipv6_address(host)) return std::nullopt;
        return with_port(host, text.substr(end + 1));
    }
    const std::string_view host = text.substr(0, text.find(':'));
    if (!is_host(host)) return std::nullopt;
    return with_port(host, text.substr(host.size()));
}

bool is_endpoint(std::string_view text) { return endpoint_from(text).has_value(); }

bool is_server_url(std::string_view text) {
    constexpr std::string_view kScheme = "https://";
    return text.starts_with(kScheme) && is_endpoint(text.substr(kScheme.size()));
}

bool is_proxy_url(std::string_view text) {
    for (const std::string_view scheme : {"http://", "https://", "socks5://"}) {
        if (text.starts_with(scheme)) return is_endpoint(text.substr(scheme.size()));
    }
    return false;
}

bool is_registry_url(std::string_view text) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (text.starts_with(scheme)) return is_endpoint(text.substr(scheme.size()));
    }
    return false;
}

bool is_no_proxy_list(std::string_view text) {
    constexpr std::size_t kMaxList = 4096;
    return text.size() <= kMaxList && every_part(text, ',', is_no_proxy_entry);
}

bool is_node_address(std::string_view text) {
    const auto usable = [](std::string_view part) -> std::optional<Address> {
        const auto address = address_from(part);
        if (!address || !is_unicast(*address) || is_link_local(*address)) return std::nullopt;
        return address;
    };
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos) return usable(text).has_value();
    const auto first = usable(text.substr(0, comma));
    const auto second = usable(text.substr(comma + 1));
    return first && second && first->family != second->family;
}

bool is_dns_server(std::string_view text) {
    // NodeLocal DNSCache listens on a link-local address.
    const auto address = address_from(text);
    return address && is_unicast(*address);
}

bool is_ipv4_pod_subnet(std::string_view text) { return is_pod_subnet(text, AF_INET); }

bool is_ipv6_pod_subnet(std::string_view text) { return is_pod_subnet(text, AF_INET6); }

bool is_link_name(std::string_view text) {
    return text.size() < IFNAMSIZ && made_of(text, is_name_character) && text.front() != '-' &&
           text != "." && text != "..";
}

}  // namespace kubexm
