#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "daemon/agent/credentials.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/kube/kubeconfig.hpp"
#include "daemon/kube/signing.hpp"
#include "harness/harness.hpp"
#include "tests/unit/sanitized.hpp"

namespace kubexm::agent {

inline constexpr int kEveryWait = kEveryCrash == 1 ? 1 : 13;  // a sanitizer is slow

/// The parameter says at which wait. The last one is beyond the end of every activity: no wait is
/// left out.
class EveryWait : public Harness, public testing::WithParamInterface<int> {
protected:
    virtual bool is_last_wait() const = 0;
    /// Whether the activity ended before the wait.
    virtual bool has_ended_before() const = 0;

    void change_orders() {
        make_secret("kind: KubeletConfiguration\nmaxPods: 77\n");
        management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    }
    void join_with_certificates() {
        join();
        certificates_ = {stored("management").certificate, stored("machine-u1").certificate};
    }
    void expect_enrolled() { expect_enrolled_in(management_); }
    void expect_enrolled_in(SimulatedCluster& cluster) {
        finish();
        EXPECT_EQ(phase(), model::Phase::waiting);
        EXPECT_EQ(state().management.server, cluster.server());
        EXPECT_NE(cluster.find(kHost), nullptr);
        EXPECT_THAT(cluster.all(kube::kSigningPath), testing::SizeIs(1)) << "one key, one request";
    }
    void expect_changed() {
        finish();
        EXPECT_EQ(phase(), model::Phase::joined);
        const auto last = std::ranges::find(executor_.applied.rbegin(), executor_.applied.rend(),
                                            model::PlanPurpose::join, &model::Plan::purpose);
        ASSERT_NE(last, executor_.applied.rend());
        EXPECT_THAT(model::to_json(*last), testing::HasSubstr("77"));
        EXPECT_EQ(workload_.find(kNode)->at("metadata").at("labels").at("team"), "red");
        EXPECT_EQ(reported(kAssignmentApplied).status, model::ConditionStatus::yes);
    }
    void expect_adopted() {
        finish();
        EXPECT_EQ(phase(), model::Phase::joined);
        EXPECT_TRUE(executor_.has("machine-u2"));
        EXPECT_FALSE(executor_.has("machine-u1"));
        EXPECT_EQ(state().memory.joined.value_or(JoinedMachine{}).owner, "machine-u2");
        EXPECT_EQ(count_requests(workload_, "POST"), 1U) << "the certificate is kept";
    }
    void expect_repaired() {
        finish();
        EXPECT_EQ(phase(), model::Phase::joined);
        EXPECT_THAT(executor_.repaired, testing::Not(testing::IsEmpty()));
        EXPECT_THAT(state().executor.drift, testing::IsEmpty());
        EXPECT_NE(reported(kHostAsApplied).status, model::ConditionStatus::no);
    }
    /// Both certificates; kubelet has the stored one of the node.
    void expect_renewed() {
        finish();
        EXPECT_EQ(phase(), model::Phase::joined);
        EXPECT_NE(stored("management").certificate, certificates_.first);
        const auto node = stored("machine-u1");
        EXPECT_NE(node.certificate, certificates_.second);
        const auto plans =
            state().executor.observed.value_or(ExecutorState{}).applied("machine-u1");
        ASSERT_THAT(plans, testing::Not(testing::IsEmpty()));
        EXPECT_EQ(plans.front().wanted, sha256(pair_of(node.certificate, node.key).reveal()));
        EXPECT_THAT(files_with(".next.key"), testing::IsEmpty());
    }
    void expect_joined() {
        finish();
        EXPECT_EQ(phase(), model::Phase::joined);
        EXPECT_EQ(reported(kBootstrapped).status, model::ConditionStatus::yes);
        EXPECT_EQ(shown(kNodeReady).status, model::ConditionStatus::yes);
        EXPECT_TRUE(executor_.has("machine-u1"));
    }
    /// After `kubexmctl leave`.
    void expect_left() {
        finish();
        EXPECT_EQ(phase(), model::Phase::held);
        EXPECT_EQ(shown(kAssignmentApplied).reason, kReleasedByPerson);
        EXPECT_FALSE(executor_.has("machine-u1"));
        EXPECT_TRUE(names_machine());
    }
    void expect_released() {
        expect_freed();
        const model::Condition told = reported(kBootstrapped);
        EXPECT_EQ(told.reason, kNodeAbsent);
        const bool asks_person = told.message.find("kubectl delete node h1") != std::string::npos;
        EXPECT_EQ(workload_.find(kNode) != nullptr, asks_person) << told.message;
    }
    void expect_freed() {
        finish();
        EXPECT_EQ(phase(), model::Phase::waiting);
        EXPECT_FALSE(executor_.has("machine-u1"));
        EXPECT_EQ(reported(kBootstrapped).status, model::ConditionStatus::no);
        EXPECT_FALSE(names_machine());
        EXPECT_FALSE(state().memory.joined);
        EXPECT_THAT(files_with("machine-"), testing::IsEmpty()) << "its keys";
    }
    /// Whether the ByoHost does.
    bool names_machine() {
        return management_.find(kHost)->contains("/status/machineRef"_json_pointer);
    }

private:
    /// Until everything has been tried again.
    void finish() {
        advance(std::chrono::seconds(10));
        EXPECT_TRUE(!is_last_wait() || has_ended_before()) << "there are more waits";
        advance(std::chrono::minutes(30));
    }
    kube::ClusterCredentials stored(const std::string& identity) const {
        return must(kube::credentials_from_kubeconfig(directory_.read(identity + ".kubeconfig")));
    }
    std::vector<std::string> files_with(const std::string& text) const {
        std::vector<std::string> names;
        for (const auto& each : std::filesystem::directory_iterator(directory_.path())) {
            const std::string name = each.path().filename();
            if (name.find(text) != std::string::npos) names.push_back(name);
        }
        return names;
    }

    std::pair<std::string, std::string> certificates_;  // of host and node, when it joined
};

}  // namespace kubexm::agent
