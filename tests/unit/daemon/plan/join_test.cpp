#include "daemon/plan/join.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kubexm::plan {
namespace {

using model::Step;
using testing::ElementsAre;

model::NodeJoin example() {
    return {.owner = "machine-1",
            .node_name = "h1",
            .provider_id = "byoh://h1",
            .server = "https://10.0.0.1:6443",
            .minor = 34,
            .ca_digest = std::string(64, 'a'),
            .client_ca_digest = std::string(64, 'a'),
            .client_digest = std::string(64, 'b'),
            .serving_digest = std::string(64, 'd'),
            .kubelet = {.cluster_dns = {"10.96.0.10"}},
            .labels = {{"site", "a"}, {"node-role.kubernetes.io/worker", ""}},
            .taints = {}};
}

template <typename T>
std::vector<T> steps_of(const model::Plan& plan) {
    std::vector<T> found;
    for (const Step& step : plan.steps) {
        if (const auto* typed = std::get_if<T>(&step)) found.push_back(*typed);
    }
    return found;
}

template <typename T>
std::size_t first_of(const model::Plan& plan) {
    const auto is_it = [](const Step& step) { return std::holds_alternative<T>(step); };
    return static_cast<std::size_t>(std::ranges::find_if(plan.steps, is_it) - plan.steps.begin());
}

model::UnitState kubelet_of(const model::Plan& plan) {
    return steps_of<model::UnitState>(plan).at(0);
}

TEST(JoinPlan, HasItsOwnerAndEndsWithARunningKubelet) {
    const model::Plan plan = make_join(example(), "join-1");
    EXPECT_EQ(plan.id, "join-1");
    EXPECT_EQ(plan.owner, "machine-1");
    ASSERT_TRUE(std::holds_alternative<model::UnitState>(plan.steps.back()));
    EXPECT_EQ(kubelet_of(plan).name, "kubelet.service");
    EXPECT_EQ(kubelet_of(plan).active, true);
    EXPECT_EQ(kubelet_of(plan).enabled, true);
}

TEST(JoinPlan, ClaimsBetweenTheDirectoriesAndTheirFiles) {
    // Undo runs in reverse: it removes claimed trees before their directory.
    const model::Plan plan = make_join(example(), "join-1");
    EXPECT_LT(first_of<model::Directory>(plan), first_of<model::Claim>(plan));
    EXPECT_LT(first_of<model::Claim>(plan), first_of<model::DataFile>(plan));
    EXPECT_LT(first_of<model::SideEffects>(plan), first_of<model::SecretFile>(plan));
}

TEST(JoinPlan, IsUndoneWhileSystemdReloads) {
    // Undo runs in reverse. From the unit's file on, only control groups need systemd.
    const model::Plan plan = make_join(example(), "join-1");
    const auto place_of = [&](const std::string& object) {
        const auto is_it = [&](const Step& step) { return object_of(step) == object; };
        return std::ranges::find_if(plan.steps, is_it) - plan.steps.begin();
    };
    const auto at = [&](model::SideEffect kind) {
        return place_of(object_of(Step(model::SideEffects{kind})));
    };
    EXPECT_EQ(at(model::SideEffect::cgroups), 0);
    EXPECT_EQ(at(model::SideEffect::network_files), 1);
    EXPECT_LT(at(model::SideEffect::routes), at(model::SideEffect::links)) << "most go with links";
    EXPECT_LT(at(model::SideEffect::sets), at(model::SideEffect::chains)) << "chains use sets";
    EXPECT_LT(at(model::SideEffect::pods), place_of("file /etc/systemd/system/kubelet.service"));
}

TEST(JoinPlan, NamesSecretsByDigestOnly) {
    const auto secrets = steps_of<model::SecretFile>(make_join(example(), "join-1"));
    ASSERT_EQ(secrets.size(), 2U);
    EXPECT_EQ(secrets[0].path, "/var/lib/kubelet/pki/kubelet-client-bbbbbbbbbbbbbbbb.pem");
    EXPECT_EQ(secrets[1].path, "/var/lib/kubelet/pki/kubelet-server-dddddddddddddddd.pem");
    EXPECT_EQ(secrets[0].digest, std::string(64, 'b'));
    EXPECT_EQ(secrets[1].digest, std::string(64, 'd'));
    const auto links = steps_of<model::Symlink>(make_join(example(), "join-1"));
    ASSERT_EQ(links.size(), 2U);
    for (std::size_t i = 0; i < links.size(); ++i) {
        EXPECT_EQ(secrets[i].access.mode.bits, 0600U);
        EXPECT_EQ(links[i].target, secrets[i].path);
    }
}

TEST(JoinPlan, OmitsLabelsThatKeepKubeletFromStarting) {
    std::vector<std::vector<model::Pair>> labels;
    for (const auto& file : steps_of<model::RenderedFile>(make_join(example(), "join-1"))) {
        const auto* service = std::get_if<model::KubeletService>(&file.document);
        if (service != nullptr) labels.push_back(service->labels);
    }
    EXPECT_THAT(labels, ElementsAre(ElementsAre(model::Pair{"site", "a"})));
}

TEST(JoinPlan, RestartsKubeletOnlyWhenItsFilesChange) {
    model::NodeJoin other = example();
    other.client_digest = std::string(64, 'c');
    const auto key = [](const model::NodeJoin& join) {
        return kubelet_of(make_join(join, "join-1")).restart_key;
    };
    EXPECT_EQ(key(other), key(example())) << "a new certificate is read without a restart";
    other.kubelet.max_pods = 50;
    EXPECT_NE(key(other), key(example()));
}

TEST(JoinPlan, RestartsKubeletForCasThatItWasNotStartedWith) {
    model::NodeJoin other = example();
    other.ca_digest = std::string(64, 'e');
    const auto key = [](const model::NodeJoin& join) {
        return kubelet_of(make_join(join, "join-1")).restart_key;
    };
    EXPECT_EQ(key(other), key(example())) << "one that went";
    other.started_ca_digest = other.ca_digest;
    EXPECT_NE(key(other), key(example()));
    EXPECT_NE(make_join(other, "join-1").wanted, make_join(example(), "join-1").wanted);
    model::NodeJoin started = other;
    started.started_ca_digest.clear();
    EXPECT_EQ(make_join(other, "join-1").wanted, make_join(started, "join-1").wanted)
        << "what kubelet was started with is no order";
}

TEST(JoinPlan, ANewVersionRestartsNoKubelet) {
    // Where this fails, an upgrade of kubexmd restarts kubelet with the next plan of every node.
    EXPECT_EQ(kubelet_of(make_join(example(), "join-1")).restart_key,
              "f9d4199649cf398981c6dd4e785e14c85e906ee982be1790012257d9fb5b4afb");
}

TEST(JoinPlan, IsTheSameForTheSameJoin) {
    EXPECT_EQ(hash_of(make_join(example(), "join-1")), hash_of(make_join(example(), "join-2")));
}

TEST(JoinPlan, IsReadBackFromJson) {
    const model::Plan plan = make_join(example(), "join-1");
    const auto read = model::plan_from_json(model::to_json(plan));
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(*read, plan);
}

}  // namespace
}  // namespace kubexm::plan
