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

class RepairScenario : public Harness {};

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

TEST_F(RepairScenario, AnotherObjectIsRepairedAtOnce) {
    join();
    executor_.set_drift({kStopped});
    settle();
    executor_.set_drift({{"machine-u1", "file /var/lib/kubelet/config.yaml", "changed"}});
    settle();
    EXPECT_THAT(executor_.repaired, SizeIs(2));
    executor_.set_drift({kStopped});
    settle();
    EXPECT_THAT(executor_.repaired, SizeIs(2)) << "the same object again waits";
    ASSERT_TRUE(command(model::Verb::repair));
    EXPECT_THAT(executor_.repaired, SizeIs(3)) << "but not when a person asks";
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
