#include "daemon/agent/pending_orders.hpp"

#include "harness/harness.hpp"

// Orders that only others can follow are reported with the command.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::ConditionStatus;
using model::Phase;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class PendingOrders : public Harness {
protected:
    static constexpr const char* kRole = "node-role.kubernetes.io/x";

    static json taint(const char* value, const char* effect = "NoSchedule") {
        return {{"key", "gpu"}, {"value", value}, {"effect", effect}};
    }
    void want_taints(json taints) {
        management_.patch(kHost, {{"spec", {{"taints", std::move(taints)}}}});
        advance(10s);
    }
    void put_taints(json taints) {
        workload_.patch(kNode, {{"spec", {{"taints", std::move(taints)}}}});
        advance(10s);
    }
    void want_role(const json& value) {
        management_.patch(kHost, {{"spec", {{"labels", {{kRole, value}}}}}});
        advance(10s);
    }
    void put_role(const json& value) {
        workload_.patch(kNode, {{"metadata", {{"labels", {{kRole, value}}}}}});
        advance(10s);
    }
    std::string told() { return reported(kAssignmentApplied).message; }
    bool is_applied() { return reported(kAssignmentApplied).status == ConditionStatus::yes; }
};

TEST_F(PendingOrders, AChangedValueOfATaintIsOverwritten) {
    join();
    want_taints(json::array({taint("a")}));
    put_taints(json::array({taint("a")}));
    ASSERT_TRUE(is_applied());
    want_taints(json::array({taint("b")}));
    EXPECT_THAT(told(), EndsWith("kubectl taint nodes h1 gpu=b:NoSchedule --overwrite"));
    put_taints(json::array({taint("b")}));
    EXPECT_TRUE(is_applied());
}

TEST_F(PendingOrders, AnotherEffectIsAnotherTaint) {
    join();
    want_taints(json::array({taint("a")}));
    put_taints(json::array({taint("a")}));
    want_taints(json::array({taint("a", "NoExecute")}));
    EXPECT_THAT(told(), EndsWith("kubectl taint nodes h1 gpu=a:NoExecute gpu=a:NoSchedule-"));
}

TEST_F(PendingOrders, ATaintThatAPersonSetForOrdersIsReportedWhenTheyDropIt) {
    join();
    want_taints(json::array({taint("a")}));
    put_taints(json::array({taint("a"), {{"key", "theirs"}, {"effect", "NoSchedule"}}}));
    ASSERT_TRUE(is_applied());
    want_taints(json::array());
    EXPECT_THAT(told(), EndsWith("kubectl taint nodes h1 gpu=a:NoSchedule-"));
    restart();
    EXPECT_THAT(told(), EndsWith("kubectl taint nodes h1 gpu=a:NoSchedule-"));
    put_taints(json::array({{{"key", "theirs"}, {"effect", "NoSchedule"}}}));
    EXPECT_TRUE(is_applied()) << "the taints of others stay";
}

TEST_F(PendingOrders, ATaintThatWasTakenAwayIsForgottenWithTheNextOrders) {
    join();
    want_taints(json::array({taint("a")}));
    want_taints(json::array());
    put_taints(json::array({taint("a")}));
    EXPECT_TRUE(is_applied()) << "no orders asked for it when it came";
}

TEST_F(PendingOrders, AChangedValueOfALabelIsOverwritten) {
    join();
    put_role("1");
    want_role("2");
    EXPECT_THAT(told(),
                EndsWith(std::string("kubectl label nodes h1 ") + kRole + "=2 --overwrite"));
    put_role("2");
    EXPECT_TRUE(is_applied());
}

TEST_F(PendingOrders, ALabelThatAPersonSetForOrdersIsReportedWhenTheyDropIt) {
    join();
    put_role("of others");
    want_role(nullptr);
    ASSERT_TRUE(is_applied());
    want_role("1");
    put_role("1");
    ASSERT_TRUE(is_applied());
    want_role(nullptr);
    EXPECT_THAT(told(), EndsWith(std::string("kubectl label nodes h1 ") + kRole + "-"));
    put_role(nullptr);
    EXPECT_TRUE(is_applied());
}

TEST_F(PendingOrders, AllThatWaitsIsTold) {
    join();
    management_.patch(
        kHost,
        {{"metadata",
          {{"annotations", {{"byoh.infrastructure.cluster.x-k8s.io/k8sversion", "v1.35.0"}}}}}});
    want_taints(json::array({taint("a")}));
    want_role("1");
    EXPECT_THAT(told(),
                AllOf(HasSubstr("v1.35.0 is wanted"),
                      HasSubstr("; a node may not change its own taints; run: kubectl taint "
                                "nodes h1 gpu=a:NoSchedule; a node may not give"),
                      HasSubstr("kubectl label nodes h1"), Not(HasSubstr("--overwrite"))));
    EXPECT_EQ(phase(), Phase::joined);
}

}  // namespace
}  // namespace kubexm::agent
