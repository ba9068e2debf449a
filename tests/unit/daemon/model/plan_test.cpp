#include "daemon/model/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kubexm::model {
namespace {

using testing::HasSubstr;

const std::string kDigest(64, 'a');

/// One step of every type.
Plan every_step() {
    return {
        .id = "plan-1",
        .owner = "6f1c-uid",
        .steps =
            {
                RenderedFile{KubeletService{.node_name = "h1",
                                            .node_ip = "10.0.0.5",
                                            .provider_id = "byoh://h1",
                                            .labels = {{"site", "a"}},
                                            .taints = {{"gpu", "", TaintEffect::no_execute}}}},
                RenderedFile{KubeletConfiguration{
                    .minor = 34, .cluster_dns = {"10.68.0.2"}, .cluster_domain = "cluster.local"}},
                RenderedFile{Kubeconfig{KubeconfigUser::kube_proxy, "https://10.0.0.1:6443"}},
                RenderedFile{ContainerdConfiguration{.version = 3, .sandbox_image = "pause:3.10"}},
                RenderedFile{ProxyDropIn{.http_proxy = "http://p:3128"}},
                RenderedFile{SysctlFile{{{"net.ipv4.ip_forward", "1"}}}},
                RenderedFile{ModulesFile{{"overlay"}}},
                DataFile{"/etc/kubernetes/pki/ca.crt", DataKind::ca_bundle, kDigest, {}},
                SecretFile{"/var/lib/kubelet/pki/client.pem", "node-client", kDigest, {}},
                Directory{"/etc/kubernetes", {}},
                Symlink{"/opt/kubexm/kubelet/current", "v1.34.1"},
                ManagedBlock{"/etc/hosts", "own name", {"10.0.0.5 h1"}},
                AbsentPath{"/etc/kubernetes/bootstrap-kubeconfig"},
                DeletedTree{"/var/lib/kubelet"},
                Sysctl{"net.ipv4.ip_forward", "1"},
                KernelModule{"br_netfilter"},
                SwapOff{},
                Unmounted{"/var/lib/kubelet"},
                UnitState{.name = "kubelet.service", .enabled = true, .active = true},
                DaemonReload{{"kubelet.service"}},
                TransientUnit{"kubexm-preflight.service", {"/usr/bin/true"}, 60},
                ComponentVersion{"kubelet", "v1.34.1", {{"kubelet", kDigest, {0755}}}},
                Claim{"/var/lib/kubelet"},
                SideEffects{SideEffect::pods},
            },
    };
}

TEST(Plan, EveryStepSurvivesItsJsonForm) {
    const Plan plan = every_step();
    std::set<std::size_t> types;
    for (const Step& step : plan.steps) types.insert(step.index());
    ASSERT_EQ(types.size(), std::variant_size_v<Step>);
    auto again = plan_from_json(to_json(plan));
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(*again, plan);
}

TEST(Plan, TheHashDependsOnTheStepsAndNotOnTheId) {
    Plan plan = every_step();
    const std::string hash = hash_of(plan);
    plan.id = "plan-2";
    EXPECT_EQ(hash_of(plan), hash);
    plan.steps.pop_back();
    EXPECT_NE(hash_of(plan), hash);
}

TEST(Plan, TheHashIsStable) {
    // Journals of older versions contain it.
    const Plan plan{"p", "o", {Sysctl{"net.ipv4.ip_forward", "1"}}};
    EXPECT_EQ(hash_of(plan), "b640374d6f9c42514c3190719c82d80b4b8ea9e58b51c9189fad19b8cd1c997f");
}

std::string with_step(const std::string& step) {
    return R"({"id":"p","owner":"o","steps":[)" + step + "]}";
}

struct Refusal {
    std::string plan;
    std::string because;
};

class RefusedPlan : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedPlan, SaysWhereAndWhy) {
    auto refused = plan_from_json(GetParam().plan);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_THAT(refused.error().what, HasSubstr(GetParam().because));
}

INSTANTIATE_TEST_SUITE_P(
    Plan, RefusedPlan,
    testing::Values(
        Refusal{"[]", "plan: expected an object"},
        Refusal{R"({"owner":"o","steps":[]})", "id: expected, found none"},
        Refusal{R"({"id":"a/b","owner":"o","steps":[]})", "id: expected 1 to 128 letters"},
        Refusal{R"({"id":"a","owner":"o","steps":[],"x":1})", "plan.x: is not known"},
        Refusal{R"({"id":"a","owner":"o","steps":[],"hash":"0"})", "hash: expected the value"},
        Refusal{with_step("1"), "steps[0]: expected an object"},
        Refusal{with_step(R"({"type":"shell","with":{}})"),
                "steps[0].with.type: shell is not known"},
        Refusal{with_step(R"({"type":"sysctl","with":{"key":"a"}})"),
                "steps[0].with.value: expected, found none"},
        Refusal{with_step(R"({"type":"sysctl","with":{"key":"a","value":"b","c":1}})"),
                "steps[0].with.c: is not known; known are key, value, type"},
        Refusal{with_step(R"({"type":"sysctl","with":{"key":7,"value":"b"}})"),
                "steps[0].with.key: expected a string"},
        Refusal{with_step(R"({"type":"sysctl","with":{"key":"a\u0000b","value":"b"}})"),
                "expected no NUL byte"},
        Refusal{with_step(R"({"type":"sysctl","target":"other","with":{"key":"a","value":"b"}})"),
                "steps[0].target: expected the value"},
        Refusal{
            with_step(
                R"({"type":"directory","with":{"path":"/a","access":{"mode":"0999","uid":0,"gid":0}}})"),
            "access.mode: expected a mode"},
        Refusal{
            with_step(
                R"({"type":"directory","with":{"path":"/a","access":{"mode":"0755","uid":-1,"gid":0}}})"),
            "access.uid: expected a whole number"},
        Refusal{
            with_step(
                R"({"type":"unit-state","with":{"name":"a","enabled":"yes","restart_key":""}})"),
            "enabled: expected true or false"},
        Refusal{with_step(R"({"type":"sysctl","with":{"key":"a","value":")" +
                          std::string(5000, 'x') + R"("}})"),
                "expected at most 4096 bytes"}));

TEST(Plan, TooManyStepsAreRefused) {
    std::string steps = R"({"type":"swap-off","with":{}})";
    std::string list = steps;
    for (std::size_t i = 0; i < kMaxSteps; ++i) list += "," + steps;
    auto refused = plan_from_json(with_step(list));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("steps: expected at most 200"));
}

}  // namespace
}  // namespace kubexm::model
