#include "daemon/agent/node_monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/agent/orders.hpp"

namespace kubexm::agent {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

model::HostFacts here() {
    model::HostFacts facts;
    facts.name = "h1";
    facts.machine_id = "m1";
    return facts;
}

model::NodeRecord ready_node() {
    model::NodeRecord node;
    node.machine_id = "m1";
    node.provider_id = "byoh://h1";
    node.ready = model::ConditionStatus::yes;
    return node;
}

TEST(Verify, AcceptsTheNodeOfThisHost) { EXPECT_TRUE(verify(ready_node(), here())); }

TEST(Verify, NamesTheDifference) {
    model::NodeRecord node = ready_node();
    node.machine_id = "m2";
    EXPECT_THAT(verify(node, here()).error().what,
                AllOf(HasSubstr("machine-id, found another"), Not(HasSubstr("m2"))));
    node = ready_node();
    node.provider_id = "byoh://h2";
    EXPECT_THAT(verify(node, here()).error().what, HasSubstr("byoh://h2"));
    node = ready_node();
    node.ready = model::ConditionStatus::no;
    node.ready_message = "no network plugin";
    EXPECT_THAT(verify(node, here()).error().what, HasSubstr("no network plugin"));
}

TEST(Version, HasAMinor) {
    EXPECT_EQ(minor_of("v1.34.1").value(), 34U);
    EXPECT_EQ(minor_of("v1.29.0-rc.1").value(), 29U);
    for (const std::string wrong : {"", "1.34.1", "v2.1.0", "v1.", "v1.x"}) {
        EXPECT_FALSE(minor_of(wrong)) << wrong;
    }
}

}  // namespace
}  // namespace kubexm::agent
