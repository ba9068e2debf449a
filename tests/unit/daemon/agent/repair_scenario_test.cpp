#include "harness/harness.hpp"

// What differs from the ledger is repaired; what a newer version would render is only shown.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::ConditionStatus;
using model::Phase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class RepairScenario : public Harness {
protected:
    /// Somebody harms the node, and the executor notices.
    void harm(const wire::DriftedObject& object) {
        executor_.set_drift({object});
        settle();
    }
    std::string told() { return shown(kHostAsApplied).message; }
};

const wire::DriftedObject kStopped{"machine-u1", "unit kubelet.service", "inactive"};

TEST_F(RepairScenario, DriftIsRepairedAtOnceWithoutTheManagementCluster) {
    join();
    management_.set_available(false);
    restart();
    executor_.set_drift({kStopped});
    settle();
    EXPECT_THAT(executor_.repaired, ElementsAre("machine-u1"));
    EXPECT_EQ(phase(), Phase::joined);
    advance(1h);
    EXPECT_THAT(executor_.repaired, SizeIs(1));
    EXPECT_EQ(shown(kHostAsApplied).type, "") << "nothing differs any more";
}

TEST_F(RepairScenario, SomebodyWhoKeepsChangingItBackIsMetWithBackOff) {
    join();
    for (int i = 0; i < 200; ++i) {
        executor_.set_drift({kStopped});
        advance(5s);
    }
    EXPECT_GT(executor_.repaired.size(), 3U);
    EXPECT_LT(executor_.repaired.size(), 12U);
    EXPECT_EQ(reported(kHostAsApplied).status, ConditionStatus::no);
    EXPECT_THAT(reported(kHostAsApplied).message, HasSubstr("kubexmctl pause"));
    executor_.set_drift({});
    advance(1h);
    EXPECT_EQ(reported(kHostAsApplied).status, ConditionStatus::yes);
    executor_.set_drift({kStopped});
    const auto before = executor_.repaired.size();
    settle();
    EXPECT_EQ(executor_.repaired.size(), before + 1) << "the row of repairs is forgotten";
}

TEST_F(RepairScenario, OneHarmAfterTheOtherIsRepairedAtOnce) {
    join();
    for (const char* found : {"inactive", "disabled", "masked"}) {
        harm({"machine-u1", "unit kubelet.service", found});
        EXPECT_THAT(state().executor.drift, IsEmpty()) << found;
    }
    EXPECT_THAT(executor_.repaired, SizeIs(3));
    harm(kStopped);
    EXPECT_THAT(told(), HasSubstr("repaired 3 times, next repair at"));
    advance(5s);
    EXPECT_THAT(executor_.repaired, SizeIs(4));
    harm(kStopped);
    advance(9s);
    EXPECT_THAT(executor_.repaired, SizeIs(4));
    advance(1s);
    EXPECT_THAT(executor_.repaired, SizeIs(5)) << "the wait is doubled";
}

TEST_F(RepairScenario, WhatWasPutBackIsNotRepairedAgainBeforeTheHostWasCompared) {
    join();
    executor_.until_drift = 300ms;
    harm(kStopped);
    EXPECT_THAT(executor_.repaired, SizeIs(1));
    advance(1s);
    EXPECT_THAT(executor_.repaired, SizeIs(1));
    EXPECT_THAT(state().executor.drift, IsEmpty());
    harm(kStopped);
    EXPECT_THAT(executor_.repaired, SizeIs(2));
}

TEST_F(RepairScenario, AnotherObjectIsRepairedAtOnce) {
    join();
    for (int i = 0; i < 3; ++i) harm(kStopped);
    harm({"machine-u1", "file /var/lib/kubelet/config.yaml", "changed"});
    EXPECT_THAT(executor_.repaired, SizeIs(4));
    harm(kStopped);
    EXPECT_THAT(executor_.repaired, SizeIs(4)) << "the same object again waits";
    ASSERT_TRUE(command(model::Verb::repair));
    EXPECT_THAT(executor_.repaired, SizeIs(5)) << "but not when a person asks";
}

TEST_F(RepairScenario, WhatIsNotRepairedIsNotSaidToBe) {
    const std::string stops = "kubexmctl pause stops repairs";
    join();
    executor_.refuses_repair_with = "the journal is damaged";
    harm(kStopped);
    EXPECT_THAT(told(), testing::EndsWith(stops));
    management_.patch(kHost, {{"metadata", {{"annotations", {{"cluster.x-k8s.io/paused", ""}}}}}});
    settle();
    EXPECT_EQ(told(), "unit kubelet.service: inactive; not repaired at present");
    management_.patch(kHost,
                      {{"metadata", {{"annotations", {{"cluster.x-k8s.io/paused", nullptr}}}}}});
    assign("u2", "workers-2");
    ASSERT_EQ(phase(), Phase::held);
    EXPECT_THAT(told(), testing::EndsWith(stops)) << "its orders are held, not its repair";
    assign();
    EXPECT_THAT(told(), testing::EndsWith(stops));
    const wire::DriftedObject roots{"root", "file /etc/hosts", "changed"};
    executor_.set_drift({roots, kStopped});
    settle();
    EXPECT_THAT(told(), HasSubstr("unit kubelet.service: inactive and 1 more objects; repaired"));
    harm(roots);
    EXPECT_EQ(told(), "file /etc/hosts: changed; not repaired: apply the plan of owner root again");
    executor_.set_drift(
        {{std::string(wire::kWatchOwner), "the watch of the host", "no watches left"}});
    advance(1s);
    EXPECT_EQ(told(), "the watch of the host: no watches left; the executor tries again by itself");
}

TEST_F(RepairScenario, AHeldNodeIsRepaired) {
    join();
    assign("u2", "workers-2");
    advance(10s);
    ASSERT_EQ(phase(), Phase::held);
    executor_.holds_plans = true;
    harm(kStopped);
    EXPECT_THAT(executor_.repaired, ElementsAre("machine-u1"));
    EXPECT_EQ(phase(), Phase::held) << "during the repair";
    EXPECT_EQ(shown(kAssignmentApplied).reason, kManualDecisionRequired);
    executor_.holds_plans = false;
    executor_.end_plan(model::PlanState::done);
    advance(10s);
    EXPECT_THAT(state().executor.drift, IsEmpty());
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(events("ManualDecisionRequired"), SizeIs(1));
    EXPECT_THAT(events("HostRepaired"), SizeIs(1));
    EXPECT_THAT(executor_.cancelled, IsEmpty());
    EXPECT_THAT(executor_.applied, SizeIs(1));
}

TEST_F(RepairScenario, OrdersThatAreHeldDoNotEndARepair) {
    join();
    executor_.holds_plans = true;
    harm(kStopped);
    ASSERT_THAT(executor_.repaired, SizeIs(1));
    assign("u2", "workers-2");
    EXPECT_THAT(executor_.cancelled, IsEmpty());
    executor_.holds_plans = false;
    executor_.end_plan(model::PlanState::done);
    advance(10s);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(executor_.repaired, SizeIs(1));
}

/// The secret of the new machine is not there yet.
TEST_F(RepairScenario, ANodeThatCannotBeAdoptedYetIsRepaired) {
    join();
    management_.erase(kSecret);
    assign("u2", "workers-2");
    ASSERT_TRUE(command(model::Verb::adopt));
    advance(10min);
    ASSERT_THAT(executor_.applied, SizeIs(1));
    harm(kStopped);
    EXPECT_THAT(executor_.repaired, ElementsAre("machine-u1"));
    EXPECT_THAT(state().executor.drift, IsEmpty());
    EXPECT_THAT(events("HostDrifted"), SizeIs(1));
    executor_.refuses_repair_with = "the journal is damaged";
    harm(kStopped);
    EXPECT_THAT(told(), testing::EndsWith("kubexmctl pause stops repairs"));
    executor_.refuses_repair_with.clear();
    EXPECT_THAT(command(model::Verb::repair).value(), HasSubstr("repairing"));
    EXPECT_THAT(state().executor.drift, IsEmpty());
    make_secret();
    advance(10min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_TRUE(executor_.has("machine-u2"));
}

TEST_F(RepairScenario, WhatRootUndidIsNotPutBack) {
    join();
    executor_.undo_as_root("machine-u1");
    settle();
    ASSERT_EQ(phase(), Phase::held);
    harm(kStopped);
    advance(1h);
    EXPECT_THAT(executor_.repaired, IsEmpty());
    EXPECT_EQ(told(), "unit kubelet.service: inactive; not repaired at present");
}

TEST_F(RepairScenario, DriftAfterTheEndOfTheSubscriptionIsRepaired) {
    join();
    executor_.end_subscription();
    executor_.set_drift({kStopped});
    advance(10s);
    EXPECT_THAT(executor_.repaired, ElementsAre("machine-u1"));
}

TEST_F(RepairScenario, ASubscriptionThatAlwaysEndsIsNoHotLoop) {
    join();
    executor_.ends_subscriptions = true;
    executor_.end_subscription();
    advance(2h);
    EXPECT_GT(executor_.subscriptions, 15);
    EXPECT_LT(executor_.subscriptions, 40);
    lose_executor();
    executor_.ends_subscriptions = false;
    const int before = executor_.subscriptions;
    regain_executor();
    advance(1h);
    EXPECT_EQ(executor_.subscriptions, before + 1);
}

TEST_F(RepairScenario, APauseEndsARepair) {
    join();
    executor_.holds_plans = true;
    executor_.set_drift({kStopped});
    settle();
    ASSERT_THAT(executor_.repaired, SizeIs(1));
    ASSERT_TRUE(command(model::Verb::pause));
    settle();
    EXPECT_THAT(executor_.cancelled, SizeIs(1));
    EXPECT_EQ(phase(), Phase::paused);
    advance(1h);
    EXPECT_THAT(executor_.repaired, SizeIs(1));
}

TEST_F(RepairScenario, ALeaveDoesNotWaitForARepair) {
    join();
    executor_.holds_plans = true;
    executor_.set_drift({kStopped});
    settle();
    ASSERT_THAT(executor_.repaired, SizeIs(1));
    ASSERT_TRUE(command(model::Verb::leave));
    settle();
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
    EXPECT_EQ(phase(), Phase::releasing);
}

/// The executor sends what differs once.
TEST_F(RepairScenario, ARefusedRepairIsTriedAgain) {
    join();
    executor_.refuses_repair_with = "the journal is damaged";
    executor_.set_drift({kStopped});
    advance(1min);
    EXPECT_THAT(executor_.repaired, SizeIs(4)) << "at once, after 5 s, 10 s and 20 s more";
    executor_.refuses_repair_with.clear();
    advance(1min);
    EXPECT_THAT(executor_.repaired, SizeIs(5));
    EXPECT_THAT(state().executor.drift, IsEmpty());
    advance(1h);
    EXPECT_THAT(executor_.repaired, SizeIs(5));
}

TEST_F(RepairScenario, AFailedRepairIsTriedAgain) {
    join();
    executor_.fails_with = "disk full";
    executor_.set_drift({kStopped});
    advance(1min);
    EXPECT_THAT(executor_.repaired, SizeIs(4));
    EXPECT_THAT(events("HostRepairFailed"), SizeIs(1));
    EXPECT_EQ(phase(), Phase::joined);
    executor_.fails_with.clear();
    advance(1min);
    EXPECT_THAT(state().executor.drift, IsEmpty());
}

TEST_F(RepairScenario, APauseStopsRepairs) {
    join();
    ASSERT_TRUE(command(model::Verb::pause));
    executor_.set_drift({kStopped});
    advance(1h);
    EXPECT_THAT(executor_.repaired, IsEmpty());
    EXPECT_THAT(reported(kHostAsApplied).message, HasSubstr("repair is paused"));
    ASSERT_TRUE(command(model::Verb::resume));
    EXPECT_THAT(executor_.repaired, SizeIs(1));
}

TEST_F(RepairScenario, APersonIsToldWhyNothingIsRepaired) {
    join();
    ASSERT_TRUE(command(model::Verb::pause));
    EXPECT_THAT(command(model::Verb::repair).value(), HasSubstr("no object differs"));
    executor_.set_drift({kStopped});
    settle();
    const auto paused = command(model::Verb::repair);
    ASSERT_FALSE(paused);
    EXPECT_EQ(paused.error().code, Code::conflict);
    EXPECT_THAT(paused.error().what, HasSubstr("run kubexmctl resume first"));
    ASSERT_TRUE(command(model::Verb::resume));
    executor_.undo_as_root("machine-u1");
    settle();
    EXPECT_EQ(phase(), Phase::held);
    executor_.set_drift({kStopped});
    settle();
    const auto held = command(model::Verb::repair);
    ASSERT_FALSE(held);
    EXPECT_EQ(held.error().code, Code::conflict);
    EXPECT_THAT(held.error().what, HasSubstr("root undid"));
}

TEST_F(RepairScenario, APersonIsToldWhoseObjectsDiffer) {
    join();
    executor_.set_drift({{"root", "file /etc/hosts", "changed"}});
    settle();
    const auto refused = command(model::Verb::repair);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
    EXPECT_THAT(refused.error().what, HasSubstr("file /etc/hosts differs, and is of owner root"));
}

TEST_F(RepairScenario, DriftOfOtherOwnersIsLeftAlone) {
    join();
    executor_.set_drift({{"root", "file /etc/hosts", "changed"}});
    advance(1h);
    EXPECT_THAT(executor_.repaired, IsEmpty());
}

TEST_F(RepairScenario, ANewerRenderingIsShownAndChangesNothing) {
    join();
    executor_.pending = {"file /etc/systemd/system/kubelet.service", "file /etc/sysctl.d/x"};
    restart();
    advance(1h);
    EXPECT_EQ(shown(kRenderingCurrent).status, ConditionStatus::no);
    EXPECT_EQ(shown(kRenderingCurrent).severity, "Info");
    EXPECT_EQ(shown(kRenderingCurrent).reason, "NewerRenderingPending");
    EXPECT_THAT(shown(kRenderingCurrent).message,
                HasSubstr("file /etc/systemd/system/kubelet.service, file /etc/sysctl.d/x"));
    EXPECT_EQ(reported(kRenderingCurrent).type, "") << "of the local status only";
    EXPECT_EQ(shown(kHostAsApplied).type, "");
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_THAT(executor_.repaired, IsEmpty());
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(RepairScenario, ANewerRenderingIsAppliedWithTheNextOrdersNotWithARepair) {
    join();
    executor_.pending = {"file /etc/systemd/system/kubelet.service"};
    executor_.set_drift({kStopped});
    advance(10s);
    EXPECT_THAT(executor_.repaired, SizeIs(1));
    const std::string since = shown(kRenderingCurrent).since;
    EXPECT_NE(since, "") << "the repair has changed nothing of it";
    executor_.set_drift({kStopped});
    advance(1min);
    EXPECT_EQ(shown(kRenderingCurrent).since, since) << "a new observation is no change";
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(10s);
    EXPECT_EQ(shown(kRenderingCurrent).type, "");
}

}  // namespace
}  // namespace kubexm::agent
