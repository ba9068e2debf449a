#include "daemon/executor/steps/families.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kubexm::executor::families {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

void expect_pattern(const std::string& pattern) {
    const auto star = pattern.find('*');
    EXPECT_TRUE(star == std::string::npos || star + 1 == pattern.size()) << pattern;
    EXPECT_GE(std::min(star, pattern.size()), 3U) << pattern << " would be anybody's";
}

void expect_path(const std::string& path) {
    EXPECT_EQ(path.find('/'), 0U) << path;
    EXPECT_EQ(path.find("/."), std::string::npos) << path;
    EXPECT_NE(path.rfind('/'), 0U) << path << " is a directory of the system";
    const auto star = path.find('*');
    EXPECT_TRUE(star == std::string::npos || path.rfind('/') < star) << path;
}

TEST(Families, HaveTheirSources) {
    const auto families = all();
    ASSERT_TRUE(families) << families.error().what;
    for (const Family& family : *families) {
        EXPECT_THAT(family.project, HasSubstr("github.com/"));
        EXPECT_THAT(family.version, Not(IsEmpty())) << family.project;
        for (const auto* facts : {&family.paths, &family.mounts, &family.links, &family.tables,
                                  &family.chains, &family.comments, &family.sets, &family.others}) {
            for (const Facts& fact : *facts) {
                EXPECT_THAT(fact.source, Not(IsEmpty())) << family.project;
                EXPECT_THAT(fact.names, Not(IsEmpty())) << fact.source;
                for (const std::string& name : fact.names) expect_pattern(name);
            }
        }
    }
}

TEST(Families, HavePathsThatAreTheirOwn) {
    const auto patterns = known();  // the range of a loop does not outlive its expression
    for (const std::string& path : patterns->paths) expect_path(path);
    for (const std::string& path : patterns->mounts) {
        EXPECT_EQ(path.find('*'), std::string::npos) << path;
        EXPECT_TRUE(has(patterns->paths, path.substr(0, path.rfind('/')))) << path;
    }
}

/// The kernel (2), no name (3), an administrator (4), DHCP (16): anybody's.
TEST(Families, HaveRoutesThatAreTheirOwn) {
    const auto patterns = known();
    for (const RouteFact& route : patterns->routes) {
        EXPECT_THAT(route.protocol, Not(AnyOf("2", "3", "4", "16", "")));
        EXPECT_THAT(route.source, Not(IsEmpty()));
        if (route.protocol == "12") {
            EXPECT_TRUE(route.link) << "a routing daemon of the host";
        }
    }
}

TEST(Families, NameNothingOfOthers) {
    for (const char* link :
         {"lo",          "eth0",        "ens3",    "docker0", "br-4f1c2d3e4a5b", "docker_gwbridge",
          "cni-podman0", "cni-podman1", "podman0", "podman1", "virbr0",          "virbr0-nic",
          "vnet0",       "lxcbr0",      "lxdbr0",  "lxc1",    "veth1a2b3c4",     "vethabc",
          "wg0",         "tun0",        "tunl0",   "vxlan0",  "bond0",           "flan0"}) {
        EXPECT_FALSE(has(known()->links, link)) << link;
    }
    for (const char* chain :
         {"INPUT", "DOCKER", "DOCKER-USER", "DOCKER-ISOLATION-STAGE-1", "NETAVARK-ISOLATION-2",
          "NETAVARK_FORWARD", "NETAVARK-HOSTPORT-DNAT", "LIBVIRT_INP", "LIBVIRT_FWO", "ufw-before",
          "f2b-sshd", "IN_public", "CALM", "KUBE"}) {
        EXPECT_FALSE(has(known()->chains, chain)) << chain;
    }
    for (const char* table : {"ip nat", "ip filter", "inet netavark", "inet firewalld",
                              "inet filter", "ip docker-bridges", "ip libvirt_network"}) {
        EXPECT_FALSE(has(known()->tables, table)) << table;
    }
    for (const char* path :
         {"/etc/cni/net.d/87-podman-bridge.conflist", "/etc/cni/net.d/10-containerd-net.conflist",
          "/opt/cni/bin/bridge", "/var/lib/docker", "/run/docker", "/var/lib/cni"}) {
        EXPECT_FALSE(has(known()->paths, path)) << path;
    }
    EXPECT_FALSE(has(known()->sets, "f2b-sshd"));
    EXPECT_FALSE(has(known()->comments, "allow ssh"));
    for (const char* other : {"/var/lib/cni/networks/podman", "/var/lib/cni/networks/bridge",
                              "/var/lib/cni/networks/nerdctl1", "name: \"bridge\" id: \"1\"",
                              "dnat name: \"nerdctl1\" id: \"default-1\""}) {
        EXPECT_TRUE(has(known()->others, other)) << other;
    }
    for (const char* ours : {"/var/lib/cni/networks/bridges", "name: \"bridge2\" id: \"1\""}) {
        EXPECT_FALSE(has(known()->others, ours)) << ours;
    }
}

TEST(Families, NameWhatTheirProjectsMake) {
    for (const char* link : {"kube-ipvs0", "cni0", "flannel.1", "flannel-wg", "vxlan.calico",
                             "cali1234567890a", "cilium_host", "lxc_health", "nodelocaldns"}) {
        EXPECT_TRUE(has(known()->links, link)) << link;
    }
    for (const char* chain : {"KUBE-SERVICES", "CNI-0123456789abcdef01234567", "FLANNEL-FWD",
                              "cali-FORWARD", "CILIUM_POST_nat"}) {
        EXPECT_TRUE(has(known()->chains, chain)) << chain;
    }
    for (const char* table : {"ip kube-proxy", "ip6 kube-proxy", "ip calico", "ip flannel-ipv4",
                              "inet cni_plugins_masquerade", "ip6 cni_hostport"}) {
        EXPECT_TRUE(has(known()->tables, table)) << table;
    }
    EXPECT_TRUE(has(known()->sets, "cali40s:abc"));
    EXPECT_TRUE(has(known()->sets, "KUBE-CLUSTER-IP"));
    EXPECT_TRUE(has(known()->comments, "NodeLocal DNS Cache: skip conntrack"));
}

TEST(Families, AreRefusedWithTheirPlace) {
    EXPECT_THAT(family_from("a: [").error().what, HasSubstr("line 1"));
    EXPECT_THAT(family_from("project: x").error().what,
                HasSubstr("family.version: expected, found none"));
}

}  // namespace
}  // namespace kubexm::executor::families
