#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "daemon/executor/render/render.hpp"
#include "tests/unit/daemon/executor/render/examples.hpp"

namespace kubexm::executor {
namespace {

std::string golden(const std::string& name) {
    std::ifstream file(std::string(KUBEXM_GOLDEN) + "/" + name);
    EXPECT_TRUE(file.is_open()) << name;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

class Golden : public testing::TestWithParam<Example> {};

TEST_P(Golden, MatchesTheFile) {
    auto rendered = render(GetParam().document);
    ASSERT_TRUE(rendered) << rendered.error().what;
    EXPECT_EQ(rendered->content, golden(GetParam().golden));
}

INSTANTIATE_TEST_SUITE_P(Render, Golden, testing::ValuesIn(examples()), [](const auto& example) {
    std::string name = example.param.golden;
    std::erase_if(name, [](char c) { return c == '.' || c == '-'; });
    return name;
});

TEST(Render, OmitsFlagsOfEmptyParameters) {
    auto unit = render(model::KubeletService{.node_name = "h1", .provider_id = "byoh://h1"});
    ASSERT_TRUE(unit) << unit.error().what;
    EXPECT_EQ(unit->content, golden("kubelet-plain.service"));
}

TEST(Render, OmitsFailCgroupV1BeforeKubelet131) {
    auto file = render(model::KubeletConfiguration{.minor = 30,
                                                   .cgroup_driver = model::CgroupDriver::cgroupfs,
                                                   .cluster_dns = {"169.254.20.10"},
                                                   .cluster_domain = "cluster.local"});
    ASSERT_TRUE(file) << file.error().what;
    EXPECT_EQ(file->content, golden("kubelet-1.30.yaml"));
}

TEST(Render, OnlyKubeconfigsAreUnreadableForOthers) {
    for (const auto& [name, document] : examples()) {
        const bool is_kubeconfig = std::holds_alternative<model::Kubeconfig>(document);
        EXPECT_EQ(render(document)->mode, is_kubeconfig ? 0600U : 0644U) << name;
    }
}

}  // namespace
}  // namespace kubexm::executor
