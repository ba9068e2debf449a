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

bool is_number_up_to(std::string_view text, unsigned most) {
    unsigned number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && stop == text.data() + text.size() && number <= most &&
           (text.front() != '0' || text.size() == 1);
}

/// A name or an IPv4 address. A last label of digits makes it an address, as in URLs.
bool is_host(std::string_view text) {
    const std::string_view last = text.substr(text.rfind('.') + 1);
    if (made_of(last, is_digit)) return address_from(text).has_value();
    return is_dns_name(text);
}

bool is_network(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return false;
    const auto address = address_from(text.substr(0, slash));
    return address &&
           is_number_up_to(text.substr(slash + 1), address->family == AF_INET ? 32 : 128);
}

bool is_no_proxy_entry(std::string_view text) {
    if (text == "*" || is_network(text) || address_from(text)) return true;
    if (text.starts_with("*.")) text.remove_prefix(1);
    if (text.starts_with('.')) text.remove_prefix(1);
    return is_endpoint(text);
}

}  // namespace

bool is_port(std::string_view text) {
    constexpr unsigned kMaxPort = 65535;
    return is_number_up_to(text, kMaxPort) && text != "0";
}

bool is_endpoint(std::string_view text) {
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos) return false;
        const auto address = address_from(text.substr(1, end - 1));
        const std::string_view rest = text.substr(end + 1);
        return address && address->family == AF_INET6 &&
               (rest.empty() || (rest.starts_with(':') && is_port(rest.substr(1))));
    }
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return is_host(text);
    return is_host(text.substr(0, colon)) && is_port(text.substr(colon + 1));
}

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

bool is_link_name(std::string_view text) {
    return text.size() < IFNAMSIZ && made_of(text, is_name_character) && text != "." &&
           text != "..";
}

}  // namespace kubexm
