#include "daemon/agent/facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace kubexm::agent {
namespace {

using testing::Contains;
using testing::HasSubstr;

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

TEST(Facts, RefuseAnInvalidNodeName) {
    for (const std::string& name :
         {std::string("a_b"), std::string("-a"), std::string("a..b"), std::string(64, 'a')}) {
        const auto facts = read_facts(name);
        ASSERT_FALSE(facts) << name;
        EXPECT_THAT(facts.error().what, HasSubstr("host.name"));
    }
}

TEST(Facts, ShowTheLoopbackInterface) {
    const auto found = read_interfaces();
    const auto loopback = std::ranges::find(found, "lo", &model::Interface::name);
    ASSERT_NE(loopback, found.end());
    EXPECT_THAT(loopback->addresses, Contains("127.0.0.1/8"));
    EXPECT_EQ(loopback->mac, "");
}

}  // namespace
}  // namespace kubexm::agent
