#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

const std::string& link_name(const Link& link) { return link.interface.name; }

bool is_hardware(const char* name) {
    return ::access(fmt::format("/sys/class/net/{}/device", name).c_str(), F_OK) == 0;
}

bool is_link_local(std::string_view address) {
    return address.starts_with("fe80:") || address.starts_with("169.254.");
}

/// Links that pod networks give addresses: bridges, tunnels, service addresses, and with some
/// plugins the host's end of every pod's link.
bool has_name_of_pod_network(std::string_view name) {
    constexpr std::array<std::string_view, 12> kPrefixes{
        "antrea-",  "cilium_", "cni",  "flannel",      "kube-", "nodelocaldns",
        "ovn-k8s-", "tunl",    "veth", "vxlan.calico", "weave", "wireguard.cali"};
    return std::ranges::any_of(kPrefixes,
                               [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Links of pods come and go with every pod. So a link that software made (a bond, a bridge, a
/// VLAN, a tunnel) is this host's own only where it has an address beyond a link-local one, which
/// the host's end of a pod's link seldom has, and no name of a pod network. A network card and the
/// link with the default route always are.
bool is_own(const Link& link) {
    const model::Interface& interface = link.interface;
    if (link.is_hardware || interface.is_default) return true;
    return !has_name_of_pod_network(interface.name) &&
           !std::ranges::all_of(interface.addresses, is_link_local);
}

}  // namespace

std::vector<Link> read_links() {
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(first, &::freeifaddrs);
    const std::string default_name = default_interface();
    std::vector<Link> found;
    for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
        auto link = std::ranges::find(found, entry->ifa_name, link_name);
        if (link == found.end()) {
            link = found.insert(link, {{.name = entry->ifa_name,
                                        .mac = "",
                                        .addresses = {},
                                        .up = false,
                                        .is_default = default_name == entry->ifa_name},
                                       is_hardware(entry->ifa_name)});
        }
        add(link->interface, *entry);
    }
    return found;
}

std::vector<model::Interface> interfaces_of(const std::vector<Link>& links) {
    std::vector<model::Interface> own;
    for (const Link& link : links) {
        if (is_own(link)) own.push_back(link.interface);
    }
    return own;
}

}  // namespace kubexm::agent
