#include "daemon/model/cluster_rule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kubexm::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kPin(64, 'a');
const std::string kOther(64, 'b');

TEST(ClusterRule, IsAnEndpointWithPins) {
    EXPECT_EQ(cluster_rule("*"), (ClusterRule{"*", {}}));
    EXPECT_EQ(cluster_rule("api.example.com:6443"), (ClusterRule{"api.example.com:6443", {}}));
    EXPECT_EQ(cluster_rule("[fd00::1]:6443 sha256:" + kPin + " sha256:" + kOther),
              (ClusterRule{"[fd00::1]:6443", {kPin, kOther}}));
    EXPECT_EQ(cluster_rule("* sha256:" + kPin), (ClusterRule{"*", {kPin}}));
    for (const std::string& wrong :
         {std::string(), std::string("host"), std::string("[fd00::1]"), "host:1 " + kPin,
          std::string("host:1 sha256:ab"), "host:1  sha256:" + kPin, "host:1 sha256:" + kPin + " ",
          std::string("https://host:1")}) {
        EXPECT_EQ(cluster_rule(wrong), std::nullopt) << wrong;
    }
}

TEST(ClusterRule, TheServersOwnComesBeforeAny) {
    const std::vector<std::string> clusters{"*", "api:443 sha256:" + kPin};
    EXPECT_THAT(pins_for(clusters, "https://api"), ElementsAre(kPin));
    EXPECT_THAT(pins_for(clusters, "https://api:443"), ElementsAre(kPin));
    EXPECT_EQ(rule_for(clusters, "https://api:6443"), (ClusterRule{"*", {}}));
    EXPECT_EQ(rule_for({"api:443"}, "https://api:6443"), std::nullopt);
    EXPECT_EQ(rule_for({}, "https://api"), std::nullopt);
}

TEST(ClusterRule, WithoutAServerAllClustersCount) {
    EXPECT_THAT(pins_for({"a:1 sha256:" + kPin, "b:1 sha256:" + kOther}, ""),
                ElementsAre(kPin, kOther));
    EXPECT_THAT(pins_for({"a:1 sha256:" + kPin, "b:1"}, ""), IsEmpty());
    EXPECT_THAT(pins_for({"*"}, ""), IsEmpty());
}

}  // namespace
}  // namespace kubexm::model
