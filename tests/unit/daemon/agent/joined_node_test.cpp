#include <filesystem>

#include "harness/harness.hpp"

// A joined node stays a node, whatever is away.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::ConditionStatus;
using model::Phase;
using testing::HasSubstr;
using testing::SizeIs;

class JoinedNode : public Harness {};

TEST_F(JoinedNode, AHealthyNodeWithoutItsSecretIsNeverReportedFailed) {
    join();
    management_.erase(kSecret);
    advance(5h);
    restart();
    advance(5h);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes);
    EXPECT_THAT(executor_.applied, SizeIs(1));
}

TEST_F(JoinedNode, PlansOfRootDoNotHideTheNode) {
    join();
    for (int i = 0; i < 60; ++i) executor_.apply_as_root("root-" + std::to_string(i));
    restart();
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(executor_.applied, SizeIs(1));
}

TEST_F(JoinedNode, ARestartWithoutTheManagementClusterKnowsTheNode) {
    join();
    management_.set_available(false);
    restart();
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    const auto assignment = snapshot().assignment.value_or(model::AssignmentView{});
    EXPECT_EQ(assignment.cluster, "blue");
    EXPECT_EQ(assignment.server, "https://workload:6443");
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes);
    EXPECT_THAT(snapshot().certificates, SizeIs(2));
    set_node("False");
    advance(10s);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::no);
    management_.set_available(true);
    advance(10min);
    EXPECT_EQ(reported(kNodeReady).status, ConditionStatus::no);
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes) << "the contract's meaning";
}

TEST_F(JoinedNode, ANodeThatIsNotReadyAnyMoreIsReported) {
    join();
    set_node("False");
    advance(10s);
    EXPECT_EQ(reported(kNodeReady).status, ConditionStatus::no);
    EXPECT_THAT(reported(kNodeReady).message, HasSubstr("kubelet says so"));
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(JoinedNode, AnUnchangedNodeIsReadyAgainAfterAnOutage) {
    join();
    workload_.set_available(false);
    advance(10s);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::unknown);
    workload_.set_available(true);
    advance(10min);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes);
}

TEST_F(JoinedNode, ARefusedNodeCertificateIsReplaced) {
    join();
    const auto serial = snapshot().certificates.back().serial;
    workload_.refuse_status = 401;
    workload_.set_available(false);
    advance(1s);
    workload_.set_available(true);
    advance(2min);
    workload_.refuse_status = 0;
    advance(30min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes);
    EXPECT_EQ(snapshot().certificates.size(), 2U);
    EXPECT_EQ(serial.empty(), false);
}

TEST_F(JoinedNode, ALostNodeCertificateIsReplacedOnce) {
    join();
    std::filesystem::remove(directory_ / "machine-u1.kubeconfig");
    restart();
    advance(10min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes);
    EXPECT_EQ(count_requests(workload_, "POST"), 2U);
    EXPECT_THAT(executor_.applied, SizeIs(2));
}

TEST_F(JoinedNode, ARestartOfTheExecutorIsNoFailure) {
    start();
    make_secret();
    executor_.holds_plans = true;
    assign();
    advance(5s);
    lose_executor();
    EXPECT_EQ(reported(kBootstrapped).reason, "Joining");
    advance(30s);
    EXPECT_EQ(reported(kBootstrapped).reason, "Joining");
    EXPECT_EQ(phase(), Phase::joining);
    regain_executor();
    advance(5s);
    executor_.end_plan(model::PlanState::done);
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(executor_.applied, SizeIs(1));
}

TEST_F(JoinedNode, AFailedJoinIsReportedAndRetried) {
    start();
    make_secret();
    executor_.fails_with = "disk full";
    assign();
    advance(1s);
    EXPECT_EQ(reported(kBootstrapped).reason, "CloudInitExecutionFailed");
    EXPECT_THAT(reported(kBootstrapped).message, HasSubstr("disk full"));
    executor_.fails_with.clear();
    advance(10min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes);
}

TEST_F(JoinedNode, TheNameOfTheFirstRegistrationStays) {
    join();
    facts_.name = "renamed";
    restart();
    advance(10s);
    EXPECT_EQ(snapshot().host.name, "h1");
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(reported(kHostNameUnchanged).message, HasSubstr("renamed"));
}

}  // namespace
}  // namespace kubexm::agent
