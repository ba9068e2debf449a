#include "daemon/model/node_join.hpp"

#include <gtest/gtest.h>

namespace kubexm::model {
namespace {

NodeJoin example() {
    return {.owner = "machine-1",
            .node_name = "h1",
            .provider_id = "byoh://h1",
            .server = "https://10.0.0.1:6443",
            .server_name = "api",
            .minor = 34,
            .ca_digest = std::string(64, 'a'),
            .client_ca_digest = std::string(64, 'b'),
            .client_digest = std::string(64, 'c'),
            .serving_digest = std::string(64, 'd'),
            .kubelet = {.cgroup_driver = CgroupDriver::cgroupfs,
                        .cluster_dns = {"10.96.0.10"},
                        .cluster_domain = "example.org",
                        .fail_swap_on = false,
                        .max_pods = 50},
            .labels = {{"site", "a"}},
            .taints = {{"gpu", "a", TaintEffect::no_execute}}};
}

TEST(NodeJoin, HasTheSameHashInEveryVersion) {
    // Where this fails, an upgrade of kubexmd plans every node again.
    EXPECT_EQ(wanted_of(example()),
              "85d61d51d6d386271c364c5a3bd737c38cd07af13156c3d8a0ecb83865ff9096");
    NodeJoin usual = example();
    usual.kubelet = {};
    usual.server_name.reset();
    usual.labels.clear();
    usual.taints.clear();
    EXPECT_EQ(wanted_of(usual), "2e7fa3f0fef5c710e97e3a2aab05defbe70bfbcc08b88e0b93acd5caeaacc73e");
}

TEST(NodeJoin, EveryMemberButTheCertificatesChangesItsHash) {
    const auto differs = [](auto change) {
        NodeJoin other = example();
        change(other);
        return wanted_of(other) != wanted_of(example());
    };
    EXPECT_TRUE(differs([](NodeJoin& join) { join.server_name.reset(); }));
    EXPECT_TRUE(differs([](NodeJoin& join) { join.minor = 35; }));
    EXPECT_TRUE(differs([](NodeJoin& join) { join.kubelet.max_pods = 110; })) << "the default";
    EXPECT_TRUE(differs([](NodeJoin& join) { join.kubelet.cluster_dns.clear(); }));
    EXPECT_TRUE(differs([](NodeJoin& join) { join.labels.front().value = ""; }));
    EXPECT_TRUE(differs([](NodeJoin& join) { join.taints.clear(); }));
    EXPECT_FALSE(differs([](NodeJoin& join) { join.client_digest.clear(); }));
    EXPECT_FALSE(differs([](NodeJoin& join) { join.client_ca_digest.clear(); }));
}

}  // namespace
}  // namespace kubexm::model
