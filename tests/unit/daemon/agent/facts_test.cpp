#include "daemon/agent/facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace kubexm::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Facts, OsImageIsAsTheProviderWritesIt) {
    EXPECT_EQ(os_image_of("NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 22.04.4 LTS\"\n"),
              "Ubuntu 22.04.4");
    EXPECT_EQ(os_image_of("PRETTY_NAME=Debian\n"), "Debian");
    EXPECT_EQ(os_image_of(""), "Unknown");
}

TEST(Facts, FindTheDefaultInterface) {
    EXPECT_EQ(
        default_interface_of("Iface\tDestination\tGateway\nlo\t0000007F\t0\neth0\t00000000\t01\n"),
        "eth0");
    EXPECT_EQ(default_interface_of("Iface\tDestination\tGateway\n"), "");
}

TEST(Facts, ConvertTheConfiguredNameToLowerCase) {
    const auto facts = read_facts("Rack7.Example");
    ASSERT_TRUE(facts) << facts.error().what;
    EXPECT_EQ(facts->name, "rack7.example");
    EXPECT_GT(facts->cpus, 0U);
    EXPECT_GT(facts->memory_bytes, 1 << 20);
}

TEST(Facts, TheConfiguredNameWins) {
    std::array<char, 65> present{};
    ASSERT_EQ(::gethostname(present.data(), present.size()), 0);
    EXPECT_EQ(read_name("rack7").value(), "rack7");
    EXPECT_EQ(read_name("").has_value(), read_name(present.data()).has_value());
    EXPECT_EQ(read_name("").value_or("invalid"), read_name(present.data()).value_or("invalid"));
}

TEST(Facts, RefuseAnInvalidNodeName) {
    for (const std::string& name :
         {std::string("a_b"), std::string("-a"), std::string("a..b"), std::string(64, 'a')}) {
        const auto facts = read_facts(name);
        ASSERT_FALSE(facts) << name;
        EXPECT_THAT(facts.error().what, HasSubstr("host.name"));
    }
}

TEST(Facts, ShowTheLoopbackInterface) {
    const auto found = interfaces_of(read_links());
    const auto loopback = std::ranges::find(found, "lo", &model::Interface::name);
    ASSERT_NE(loopback, found.end());
    EXPECT_THAT(loopback->addresses, Contains("127.0.0.1/8"));
    EXPECT_EQ(loopback->mac, "");
}

Link link(const std::string& name, std::vector<std::string> addresses) {
    return {{name, "02:00:00:00:00:01", std::move(addresses), true, false}, false};
}

std::vector<std::string> own(const std::vector<Link>& links) {
    std::vector<std::string> names;
    for (const model::Interface& each : interfaces_of(links)) names.push_back(each.name);
    return names;
}

TEST(Facts, HaveLinksWithAnAddressOfTheHost) {
    EXPECT_THAT(own({link("lo", {"127.0.0.1/8"}), link("bond0.7", {"fe80::1/64", "10.0.0.5/24"}),
                     link("br0", {"2001:db8::1/64"})}),
                ElementsAre("lo", "bond0.7", "br0"));
}

TEST(Facts, HaveNoLinksOfPods) {
    EXPECT_THAT(own({link("cali12ab", {"fe80::ecee:eeff:feee:eeee/64"}), link("lxc_health", {}),
                     link("eni7f", {"169.254.0.1/16"}), link("veth12ab", {"10.244.0.1/32"}),
                     link("cni0", {"10.244.0.1/24"}), link("flannel.1", {"10.244.0.0/32"}),
                     link("kube-ipvs0", {"10.96.0.1/32"})}),
                IsEmpty());
}

TEST(Facts, HaveNetworkCardsAndTheDefaultRouteInAnyCase) {
    Link card = link("enp3s0", {});
    card.is_hardware = true;
    Link route = link("veth0", {"10.0.0.5/24"});  // of a host that is a container
    route.interface.is_default = true;
    EXPECT_THAT(own({card, route}), ElementsAre("enp3s0", "veth0"));
}

}  // namespace
}  // namespace kubexm::agent
