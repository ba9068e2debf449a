#include "harness/harness.hpp"

// Orders that change while the host is joined or joins.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::ConditionStatus;
using model::Phase;
using testing::HasSubstr;
using testing::SizeIs;

class ChangedOrders : public Harness {
protected:
    /// How often it was read.
    std::size_t secret_readings() const {
        return count_requests(management_, std::string("GET ") + kSecret);
    }
    int minutes_until_next_reading() {
        const auto before = secret_readings();
        for (int minutes = 1; minutes <= 24 * 60; ++minutes) {
            advance(1min);
            if (secret_readings() > before) return minutes;
        }
        return 0;
    }
    void annotate(const std::string& value) {
        management_.patch(kHost, {{"metadata", {{"annotations", {{"theirs", value}}}}}});
    }
    static constexpr const char* kMaxPods = "kind: KubeletConfiguration\nmaxPods: 42\n";
};

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

TEST_F(ChangedOrders, TheSecretIsReadEvery30To90Minutes) {
    random_ = [] { return 0.0; };
    join();
    random_ = [] { return 0.99; };
    EXPECT_EQ(minutes_until_next_reading(), 30);
    EXPECT_EQ(minutes_until_next_reading(), 90);
}

TEST_F(ChangedOrders, SettingsThatAreIgnoredAreNamed) {
    join();
    EXPECT_THAT(shown(kClusterSettingsApplied).message,
                HasSubstr("no clusterDNS; using 10.96.0.10"));
    make_secret("kind: KubeletConfiguration\nclusterDNS: [10.1.0.10]\nseccompDefault: true\n");
    advance(2h);
    EXPECT_THAT(shown(kClusterSettingsApplied).message,
                testing::EndsWith("kubelet-config.yaml: seccompDefault is ignored"));
    make_secret("kind: KubeletConfiguration\nclusterDNS: [10.1.0.10]\n");
    advance(2h);
    EXPECT_EQ(shown(kClusterSettingsApplied).type, "");
}

TEST_F(ChangedOrders, WrongSettingsAreNamedAndTheNodeKeepsItsOwn) {
    join();
    make_secret("kind: KubeletConfiguration\nmaxPods: many\n");
    advance(2h);
    EXPECT_EQ(reported(kAssignmentApplied).reason, kSettingsInvalid);
    EXPECT_EQ(reported(kAssignmentApplied).severity, "Warning");
    EXPECT_THAT(
        reported(kAssignmentApplied).message,
        testing::AllOf(HasSubstr("maxPods"), HasSubstr("the node keeps the settings that it has")));
    EXPECT_THAT(events("ReadBootstrapSecretFailed"), SizeIs(1));
    const std::string since = reported(kAssignmentApplied).since;
    restart();
    advance(2h);
    EXPECT_EQ(reported(kAssignmentApplied).since, since) << "it was never true";
    EXPECT_THAT(events("ReadBootstrapSecretFailed"), SizeIs(1));
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes);
    make_secret();
    advance(2h);
    EXPECT_EQ(reported(kAssignmentApplied).status, ConditionStatus::yes);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(executor_.applied, SizeIs(1));
}

TEST_F(ChangedOrders, ACaThatIsNoneIsNamedUntilTheSecretGoes) {
    join();
    management_.patch(kSecret, {{"data", {{"ca.crt", base64("none")}}}});
    advance(2h);
    EXPECT_EQ(reported(kAssignmentApplied).reason, kSettingsInvalid);
    EXPECT_THAT(reported(kAssignmentApplied).message,
                HasSubstr("CA in secret workers-1-bootstrap"));
    management_.refuse_status = 503;
    management_.refuse_path = "/secrets/";
    advance(2h);
    EXPECT_EQ(reported(kAssignmentApplied).reason, kSettingsInvalid) << "nobody has read it";
    management_.refuse_status = 0;
    management_.erase(kSecret);
    advance(2h);
    EXPECT_EQ(reported(kAssignmentApplied).status, ConditionStatus::yes);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(executor_.applied, SizeIs(1));
}

TEST_F(ChangedOrders, ANodeStaysBootstrappedWhileItsSettingsChange) {
    join();
    const auto before = static_cast<std::ptrdiff_t>(management_.patches.size());
    make_secret(kMaxPods);
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

TEST_F(ChangedOrders, AFurtherCaRestartsKubeletOnceAndOneThatGoesDoesNot) {
    join();
    const auto read_cas = [&](const std::string& cas, const char* label) {
        std::string kubeconfig = workload_.kubeconfig("token");
        const std::string ca = base64(workload_.ca());
        kubeconfig.replace(kubeconfig.find(ca), ca.size(), base64(cas));
        management_.patch(kSecret, {{"data", {{"bootstrap-kubeconfig", base64(kubeconfig)}}}});
        management_.patch(kHost, {{"spec", {{"labels", {{"cas", label}}}}}});
        advance(1min);
        const auto& steps = executor_.applied.back().steps;
        return std::get<model::UnitState>(steps.back()).restart_key;
    };
    const std::string alone = read_cas(workload_.ca(), "one");
    const std::string both = read_cas(workload_.ca() + other_.ca(), "two");
    EXPECT_NE(both, alone);
    EXPECT_EQ(read_cas(other_.ca() + workload_.ca(), "same"), both);
    EXPECT_EQ(read_cas(workload_.ca(), "less"), both);
    restart();
    EXPECT_EQ(read_cas(workload_.ca() + other_.ca(), "again"), both);
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(ChangedOrders, AFurtherCaIsReportedUntilRootHasConfirmedIt) {
    join();
    executor_.set_unconfirmed({{"CN=new", "ab12"}});
    advance(10s);
    EXPECT_EQ(reported(kClusterCasConfirmed).status, ConditionStatus::no);
    EXPECT_THAT(reported(kClusterCasConfirmed).message,
                HasSubstr("CN=new (sha256:ab12); to trust them, write them to a file and run: "
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
    workload_.untrusted = true;
    workload_.set_available(false);
    advance(1min);
    workload_.set_available(true);
    advance(10min);
    EXPECT_EQ(phase(), Phase::joined);
    ASSERT_THAT(executor_.applied, SizeIs(2));
    EXPECT_NE(state().memory.joined.value_or(JoinedMachine{}).wanted.ca_digest, before);
}

TEST_F(ChangedOrders, WhileTheServerIsNotTrustedTheSecretIsReadAgainAndAgain) {
    join();
    workload_.untrusted = true;
    workload_.set_available(false);
    advance(3min);
    make_secret(kMaxPods);
    advance(10min);
    EXPECT_EQ(state().settings.value_or(ClusterSettings{}).kubelet.max_pods, 42U)
        << "the secret was changed after the server";
    const auto before = secret_readings();
    advance(1h);
    EXPECT_GE(secret_readings(), before + 6);
    EXPECT_LE(secret_readings(), before + 13) << "with back-off";
    workload_.set_available(true);
    advance(12min);  // the last wait of the back-off
    EXPECT_THAT(executor_.applied, SizeIs(2));
    const auto after = secret_readings();
    advance(15min);
    EXPECT_EQ(secret_readings(), after) << "hourly again";
}

TEST_F(ChangedOrders, AFailedReadingOfTheSecretIsRepeatedSoon) {
    join();
    management_.refuse_status = 503;
    management_.refuse_path = "/secrets/";
    make_secret(kMaxPods);
    annotate("1");
    advance(20min);
    management_.refuse_status = 0;
    advance(10min);
    EXPECT_THAT(executor_.applied, SizeIs(2));
}

TEST_F(ChangedOrders, TheSecretIsReadAtEachChangeThatOthersMake) {
    join();
    make_secret(kMaxPods);
    annotate("1");
    advance(10s);
    EXPECT_THAT(executor_.applied, SizeIs(2));
    const auto before = secret_readings();
    for (int i = 0; i < 50; ++i) {
        annotate(std::to_string(i));
        settle();
    }
    EXPECT_LE(secret_readings(), before + 1);
    advance(10s);
    EXPECT_EQ(secret_readings(), before + 2) << "many changes, and a last reading after them";
    set_node("False");
    facts_.cpus = 99;
    restart();
    advance(1min);
    EXPECT_EQ(secret_readings(), before + 3) << "at the start, not after kubexmd's own writes";
    EXPECT_EQ(reported(kNodeReady).status, ConditionStatus::no);
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

TEST_F(ChangedOrders, ATaintThatIsNotWantedAnyMoreIsReportedWithTheCommand) {
    start();
    make_secret();
    const json taint{{"key", "gpu"}, {"value", "a"}, {"effect", "NoSchedule"}};
    management_.patch(kHost, {{"spec", {{"taints", json::array({taint})}}}});
    assign();
    workload_.patch(
        kNode, {{"spec",
                 {{"taints",
                   json::array({taint, {{"key", "disk-pressure"}, {"effect", "NoSchedule"}}})}}}});
    advance(10s);
    ASSERT_EQ(reported(kAssignmentApplied).status, ConditionStatus::yes);
    management_.patch(kHost, {{"spec", {{"taints", json::array()}}}});
    advance(10s);
    EXPECT_THAT(reported(kAssignmentApplied).message,
                testing::EndsWith("kubectl taint nodes h1 gpu=a:NoSchedule-"));
    restart();
    EXPECT_THAT(shown(kAssignmentApplied).message, HasSubstr("gpu=a:NoSchedule-"));
}

TEST_F(ChangedOrders, LabelsThatANodeMayNotHaveAreReported) {
    join();
    management_.patch(kHost, {{"spec", {{"labels", {{"node-role.kubernetes.io/x", "1"}}}}}});
    advance(10s);
    EXPECT_THAT(reported(kAssignmentApplied).message,
                HasSubstr("kubectl label nodes h1 node-role.kubernetes.io/x=1"));
    workload_.patch(kNode, {{"metadata", {{"labels", {{"node-role.kubernetes.io/x", "1"}}}}}});
    advance(10s);
    EXPECT_EQ(reported(kAssignmentApplied).status, ConditionStatus::yes);
}

TEST_F(ChangedOrders, OrdersThatFailDoNotUnmakeTheNode) {
    join();
    management_.erase(kSecret);
    executor_.fails_with = "disk full";
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(10s);
    ASSERT_THAT(executor_.applied, testing::SizeIs(testing::Ge(2U)));
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes);
    EXPECT_EQ(reported(kNodeReady).status, ConditionStatus::yes) << "the Node is still watched";
    EXPECT_EQ(reported(kAssignmentApplied).reason, "JoinFailed");
    executor_.set_drift({{"machine-u1", "file /x", "was changed"}});
    advance(1s);
    EXPECT_THAT(executor_.repaired, testing::ElementsAre("machine-u1"))
        << "repair does not wait for orders that fail";
    executor_.fails_with.clear();
    advance(10min);
    EXPECT_EQ(reported(kAssignmentApplied).status, ConditionStatus::yes);
    EXPECT_EQ(count_requests(workload_, "POST"), 1U) << "the certificate is kept";
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
