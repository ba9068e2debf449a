#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netpacket/packet.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <span>

#include "daemon/agent/facts.hpp"
#include "daemon/base/io.hpp"

namespace kubexm::agent {

namespace {

/// A copy: the list gives no alignment for the family's own type.
template <typename Socket>
Socket as(const sockaddr* address) {
    Socket value{};
    std::memcpy(&value, address, sizeof(value));
    return value;
}

template <typename Address>
std::string with_prefix(int family, const Address& address, const Address& mask) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(family, &address, text.data(), text.size());
    int bits = 0;
    for (const std::byte byte : std::as_bytes(std::span(&mask, 1))) {
        bits += std::popcount(std::to_integer<unsigned char>(byte));
    }
    return fmt::format("{}/{}", text.data(), bits);
}

std::string mac_of(const ifaddrs& entry) {
    constexpr std::size_t kMac = 6;
    const auto link = as<sockaddr_ll>(entry.ifa_addr);
    if ((entry.ifa_flags & IFF_LOOPBACK) != 0 || link.sll_halen != kMac) return "";
    return fmt::format("{:02x}", fmt::join(std::span(link.sll_addr).first(kMac), ":"));
}

void add(model::Interface& link, const ifaddrs& entry) {
    link.up = (entry.ifa_flags & IFF_UP) != 0;
    if (entry.ifa_addr == nullptr) return;
    switch (entry.ifa_addr->sa_family) {
        case AF_PACKET:
            link.mac = mac_of(entry);
            break;
        case AF_INET:
            link.addresses.push_back(with_prefix(AF_INET, as<sockaddr_in>(entry.ifa_addr).sin_addr,
                                                 as<sockaddr_in>(entry.ifa_netmask).sin_addr));
            break;
        case AF_INET6:
            link.addresses.push_back(with_prefix(AF_INET6,
                                                 as<sockaddr_in6>(entry.ifa_addr).sin6_addr,
                                                 as<sockaddr_in6>(entry.ifa_netmask).sin6_addr));
            break;
        default:
            break;
    }
}

/// In /proc/self: with ProtectProc=invisible there is no /proc/net.
std::string default_interface() {
    constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
    return default_interface_of(read_file("/proc/self/net/route", kMaxBytes).value_or(""));
}

}  // namespace

std::vector<model::Interface> read_interfaces() {
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(first, &::freeifaddrs);
    const std::string default_name = default_interface();
    std::vector<model::Interface> found;
    for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
        auto link = std::ranges::find(found, entry->ifa_name, &model::Interface::name);
        if (link == found.end()) {
            link = found.insert(link, {.name = entry->ifa_name,
                                       .mac = "",
                                       .addresses = {},
                                       .up = false,
                                       .is_default = default_name == entry->ifa_name});
        }
        add(*link, *entry);
    }
    return found;
}

}  // namespace kubexm::agent
