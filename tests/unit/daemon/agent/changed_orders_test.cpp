#include "harness/harness.hpp"

// Orders that change while the host is joined or joins.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::ConditionStatus;
using model::Phase;
using testing::HasSubstr;
using testing::SizeIs;

class ChangedOrders : public Harness {};

TEST_F(ChangedOrders, ChangedLabelsArePatchedAndAppliedWithoutTheSecret) {
    join();
    management_.erase(kSecret);
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(10s);
    ASSERT_THAT(executor_.applied, SizeIs(2));
    EXPECT_EQ(executor_.applied[1].owner, "machine-u1");
    EXPECT_EQ(workload_.find(kNode)->at("/metadata/labels/team"_json_pointer), "red");
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes);
    management_.patch(kHost, {{"spec", {{"labels", {{"team", nullptr}}}}}});
    advance(10s);
    EXPECT_FALSE(workload_.find(kNode)->contains("/metadata/labels/team"_json_pointer));
}

TEST_F(ChangedOrders, ALabelIsRemovedThatAKilledProcessHasSet) {
    join();
    std::string memory;
    workload_.on_change = [&](const std::string& path) {
        const json* node = path == kNode && memory.empty() ? workload_.find(kNode) : nullptr;
        if (node == nullptr || !node->contains("/metadata/labels/team"_json_pointer)) return;
        memory = directory_.read("memory.json");
    };
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(10s);
    ASSERT_EQ(workload_.find(kNode)->at("/metadata/labels/team"_json_pointer), "red");
    workload_.on_change = [](const std::string&) {};
    agent_.reset();
    directory_.write("memory.json", memory);  // killed before it knew that the label is set
    start();
    advance(10s);
    management_.patch(kHost, {{"spec", {{"labels", {{"team", nullptr}}}}}});
    advance(10s);
    EXPECT_FALSE(workload_.find(kNode)->contains("/metadata/labels/team"_json_pointer));
}

TEST_F(ChangedOrders, ChangedKubeletSettingsAreAppliedWithinTheHour) {
    join();
    make_secret(
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 42\n");
    advance(2h);
    ASSERT_THAT(executor_.applied, SizeIs(2));
    EXPECT_NE(executor_.applied[0].wanted, executor_.applied[1].wanted);
    advance(10h);
    EXPECT_THAT(executor_.applied, SizeIs(2)) << "unchanged settings lead to no plan";
}

TEST_F(ChangedOrders, ANodeStaysBootstrappedWhileItsSettingsChange) {
    join();
    const auto before = static_cast<std::ptrdiff_t>(management_.patches.size());
    make_secret("kind: KubeletConfiguration\nmaxPods: 42\n");
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(1min);
    ASSERT_THAT(executor_.applied, SizeIs(2));
    for (auto patch = management_.patches.begin() + before; patch != management_.patches.end();
         ++patch) {
        for (const json& each : patch->second.value("/status/conditions"_json_pointer, json())) {
            const bool is_other = each.at("type") != kBootstrapped;
            EXPECT_TRUE(is_other || each.at("status") == "True") << each;
        }
    }
}

TEST_F(ChangedOrders, AFurtherCaIsReportedUntilRootHasConfirmedIt) {
    join();
    executor_.set_unconfirmed({{"CN=new", "ab12"}});
    advance(10s);
    EXPECT_EQ(reported(kClusterCasConfirmed).status, ConditionStatus::no);
    EXPECT_THAT(reported(kClusterCasConfirmed).message,
                HasSubstr("CN=new (sha256:ab12); if they are right, put them into a file and run: "
                          "kubexmctl certs trust-ca FILE"));
    executor_.set_unconfirmed({});
    advance(10s);
    EXPECT_EQ(reported(kClusterCasConfirmed).status, ConditionStatus::yes);
}

TEST_F(ChangedOrders, AServerThatIsNotTrustedLeadsToTheNewCaOfTheSecret) {
    join();
    const std::string before = state().memory.joined.value_or(JoinedMachine{}).wanted.ca_digest;
    std::string kubeconfig = workload_.kubeconfig("token");
    const std::string ca = base64(workload_.ca());
    kubeconfig.replace(kubeconfig.find(ca), ca.size(), base64(workload_.ca() + other_.ca()));
    management_.patch(kSecret, {{"data", {{"bootstrap-kubeconfig", base64(kubeconfig)}}}});
    const std::string read_secret = std::string("GET ") + kSecret;
    const std::size_t before_outage = count_requests(management_, read_secret);
    workload_.untrusted = true;
    workload_.set_available(false);
    advance(1min);
    EXPECT_EQ(count_requests(management_, read_secret), before_outage + 1);
    workload_.set_available(true);
    advance(10min);
    EXPECT_EQ(phase(), Phase::joined);
    ASSERT_THAT(executor_.applied, SizeIs(2));
    EXPECT_NE(state().memory.joined.value_or(JoinedMachine{}).wanted.ca_digest, before);
}

TEST_F(ChangedOrders, ChangedTaintsAreReportedWithTheCommand) {
    join();
    management_.patch(
        kHost, {{"spec",
                 {{"taints",
                   json::array({{{"key", "gpu"}, {"value", "a"}, {"effect", "NoSchedule"}}})}}}});
    advance(10s);
    EXPECT_EQ(reported(kAssignmentApplied).status, ConditionStatus::no);
    EXPECT_THAT(reported(kAssignmentApplied).message,
                HasSubstr("kubectl taint nodes h1 gpu=a:NoSchedule"));
    EXPECT_THAT(executor_.applied, SizeIs(2)) << "in the unit, for the next registration";
}

TEST_F(ChangedOrders, AChangedVersionIsReportedAsNotPossible) {
    join();
    management_.patch(
        kHost,
        {{"metadata",
          {{"annotations", {{"byoh.infrastructure.cluster.x-k8s.io/k8sversion", "v1.35.0"}}}}}});
    advance(10s);
    EXPECT_THAT(reported(kAssignmentApplied).message, HasSubstr("v1.35.0 is wanted"));
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(ChangedOrders, OrdersThatChangeDuringAJoinAreUsed) {
    start();
    make_secret();
    executor_.holds_plans = true;
    assign();
    advance(5s);
    ASSERT_THAT(executor_.applied, SizeIs(1));
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(1s);
    executor_.holds_plans = false;
    executor_.end_plan(model::PlanState::done);
    advance(10s);
    ASSERT_THAT(executor_.applied, SizeIs(2));
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(workload_.find(kNode)->at("/metadata/labels/team"_json_pointer), "red");
}

}  // namespace
}  // namespace kubexm::agent
