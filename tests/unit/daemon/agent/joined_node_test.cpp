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

class JoinedNode : public Harness {
protected:
    /// Its serial number.
    std::string node_certificate() const {
        for (const auto& each : snapshot().certificates) {
            if (each.name == "node") return each.serial;
        }
        return "";
    }
};

TEST_F(JoinedNode, AHealthyNodeWithoutItsSecretIsNeverReportedFailed) {
    join();
    management_.erase(kSecret);
    advance(5h);
    restart();
    advance(5h);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes);
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_LT(count_requests(management_, std::string("GET ") + kSecret), 25U) << "about hourly";
}

TEST_F(JoinedNode, ChangedOrdersDoNotUnmakeANodeThatIsNotReady) {
    join();
    set_node("False");
    restart();
    const auto before = static_cast<std::ptrdiff_t>(management_.patches.size());
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(10s);
    ASSERT_THAT(executor_.applied, SizeIs(2));
    for (auto patch = management_.patches.begin() + before; patch != management_.patches.end();
         ++patch) {
        for (const json& each : patch->second.value("/status/conditions"_json_pointer, json())) {
            EXPECT_TRUE(each.at("type") != kBootstrapped || each.at("status") == "True") << each;
        }
    }
    EXPECT_EQ(phase(), Phase::joined);
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

/// The executor does not answer: down, busy, or waiting for a decision about its journal.
TEST_F(JoinedNode, ARestartWithoutTheExecutorKnowsTheNode) {
    join();
    executor_.connected = false;
    restart();
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes) << "it is watched";
    set_node("False");
    advance(10s);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::no);
    management_.set_available(false);
    restart();
    EXPECT_EQ(snapshot().assignment.value_or(model::AssignmentView{}).cluster, "blue");
    regain_executor();
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(executor_.applied, SizeIs(1));
}

TEST_F(JoinedNode, ARestartWithoutTheExecutorRenewsTheNodesCertificate) {
    join();
    const std::string before = node_certificate();
    executor_.connected = false;
    restart();
    advance(360 * 24h);
    EXPECT_NE(node_certificate(), before);
    EXPECT_EQ(count_requests(workload_, "POST"), 2U);
    regain_executor();
    advance(1min);
    EXPECT_THAT(executor_.applied, SizeIs(2)) << "kubelet gets it";
}

TEST_F(JoinedNode, ARestartWithoutTheExecutorDoesNotSayThatAJoinIsComplete) {
    start();
    make_secret();
    executor_.holds_plans = true;
    assign();
    advance(5s);
    ASSERT_THAT(executor_.applied, SizeIs(1));
    executor_.lose_connection();
    restart();
    EXPECT_EQ(phase(), Phase::joining);
}

TEST_F(JoinedNode, ANewObservationDoesNotHideTheAssignment) {
    join();
    management_.set_available(false);
    restart();
    advance(10s);
    executor_.holds_observations = true;
    executor_.apply_as_root("root");
    executor_.set_unconfirmed({{"CN=new", "ab12"}});
    settle();
    ASSERT_FALSE(state().executor.observed);
    EXPECT_EQ(snapshot().assignment.value_or(model::AssignmentView{}).cluster, "blue");
    executor_.answer_observations();
    executor_.undo_as_root("machine-u1");
    settle();
    ASSERT_TRUE(state().executor.observed);
    EXPECT_FALSE(snapshot().assignment);
    executor_.holds_observations = true;
    executor_.set_unconfirmed({});
    settle();
    ASSERT_FALSE(state().executor.observed);
    EXPECT_FALSE(snapshot().assignment) << "root undid the node";
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

TEST_F(JoinedNode, ARefusedWriteWaitsAsLongAsTheServerAsks) {
    const std::string conditions = "PATCH " + std::string(kHost) + "/status";
    const std::string labels = "PATCH /api/v1/nodes/h1";
    join();
    for (SimulatedCluster* cluster : {&management_, &workload_}) {
        cluster->refuse_status = 429;
        cluster->retry_after = 10min;
        cluster->requests.clear();
    }
    management_.refuse_path = "/status";
    workload_.refuse_path = "/nodes/h1";
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    set_node("False");
    advance(9min);
    EXPECT_EQ(count_requests(management_, conditions), 1U);
    EXPECT_EQ(count_requests(workload_, labels), 1U);
    advance(20min);
    EXPECT_GT(count_requests(management_, conditions), 1U);
    EXPECT_GT(count_requests(workload_, labels), 1U);
}

TEST_F(JoinedNode, ANodeThatSomebodyDeletesIsReportedAndNothingIsDone) {
    join();
    workload_.erase(kNode);
    advance(5h);
    restart();
    advance(1h);
    EXPECT_EQ(reported(kNodeReady).status, ConditionStatus::no);
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes) << "the contract's meaning";
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_THAT(executor_.repaired, testing::IsEmpty());
    EXPECT_THAT(executor_.undone, testing::IsEmpty());
    set_node("True");
    advance(1min);
    EXPECT_EQ(reported(kNodeReady).status, ConditionStatus::yes);
}

TEST_F(JoinedNode, ARefusedManagementCertificateLeadsToOneEnrolment) {
    join();
    const std::size_t asked = count_requests(management_, "POST /apis/certificates");
    management_.refuse_certificates();
    advance(10min);
    EXPECT_EQ(shown(kManagementClusterReachable).status, ConditionStatus::yes);
    restart();
    advance(5h);
    EXPECT_EQ(count_requests(management_, "POST /apis/certificates"), asked + 1);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes);
    EXPECT_EQ(count_requests(workload_, "POST"), 1U) << "the node's own is kept";
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_THAT(executor_.undone, testing::IsEmpty());
}

TEST_F(JoinedNode, ARefusedNodeCertificateIsReplaced) {
    join();
    const std::string before = node_certificate();
    workload_.refuse_certificates();
    advance(10min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes);
    EXPECT_NE(node_certificate(), before);
    EXPECT_EQ(count_requests(workload_, "POST"), 2U) << "one new certificate";
    EXPECT_THAT(executor_.applied, SizeIs(2)) << "kubelet gets it, too";
}

TEST_F(JoinedNode, ARefusedNodeCertificateIsReplacedOnceTheSecretHasAToken) {
    join();
    const std::string before = node_certificate();
    workload_.accepts_tokens = false;
    workload_.refuse_certificates();
    advance(1h);
    EXPECT_EQ(node_certificate(), before);
    EXPECT_THAT(reported(kAssignmentApplied).message, HasSubstr("token of the bootstrap secret"));
    workload_.accepts_tokens = true;
    advance(10min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_NE(node_certificate(), before);
    EXPECT_EQ(reported(kAssignmentApplied).status, ConditionStatus::yes);
}

TEST_F(JoinedNode, ARefusalThatPassesNeedsNoSecret) {
    join();
    const std::string before = node_certificate();
    management_.erase(kSecret);
    workload_.refuse_status = 401;
    workload_.set_available(false);
    workload_.set_available(true);
    advance(2min);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::unknown);
    workload_.refuse_status = 0;
    advance(10min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes);
    EXPECT_EQ(reported(kAssignmentApplied).status, ConditionStatus::yes);
    EXPECT_EQ(node_certificate(), before);
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

TEST_F(JoinedNode, AnObservationThatANewerOneOvertookDoesNotCount) {
    join();
    executor_.holds_observations = true;
    executor_.set_unconfirmed({{"CN=new", "ab12"}});
    settle();
    executor_.undo_as_root("machine-u1");
    settle();
    executor_.answer_observations();
    advance(10s);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(shown(kAssignmentApplied).message, HasSubstr("root undid the join"));
    EXPECT_FALSE(state().executor.observed.value_or(ExecutorState{}).has("machine-u1"));
}

TEST_F(JoinedNode, ShowsWhatRootPermitsAlsoAfterAReload) {
    join();
    const model::Permits any{model::Permit::any, model::Permit::any};
    EXPECT_EQ(snapshot().permits, any);
    const model::Permits less{model::Permit::listed, model::Permit::none};
    executor_.change_permits(less);
    settle();
    EXPECT_EQ(snapshot().permits, less);
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

/// A full queue, a request of root that goes first, or a quota.
class RefusedJoin : public JoinedNode, public testing::WithParamInterface<Code> {};

TEST_P(RefusedJoin, IsNoFailureUntilItWasRefusedSomeTimes) {
    start();
    make_secret();
    executor_.refuses_apply_with = "retry later";
    executor_.refuses_apply_as = GetParam();
    assign();
    advance(3s);
    EXPECT_EQ(phase(), Phase::joining);
    EXPECT_EQ(reported(kBootstrapped).reason, "Joining");
    EXPECT_EQ(reported(kAssignmentApplied).reason, "Joining");
    EXPECT_THAT(events("BootstrapK8sNodeFailed"), SizeIs(0));
    advance(1min);
    EXPECT_EQ(phase(), Phase::joining);
    EXPECT_EQ(reported(kBootstrapped).reason, "CloudInitExecutionFailed");
    EXPECT_THAT(reported(kBootstrapped).message, HasSubstr("retry later"));
    executor_.refuses_apply_with.clear();
    advance(10min);
    EXPECT_EQ(phase(), Phase::joined);
}

INSTANTIATE_TEST_SUITE_P(Codes, RefusedJoin, testing::Values(Code::unavailable, Code::exhausted));

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
