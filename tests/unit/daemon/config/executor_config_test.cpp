#include "daemon/config/executor_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "daemon/config/apply.hpp"
#include "tests/unit/daemon/config/scratch.hpp"

namespace kubexm::config {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// The configuration of a text, without the check of the owner.
Result<ExecutorConfig> executor_from(const std::string& text) {
    ExecutorConfig config;
    Problems problems;
    problems.begin_file("executor.yaml");
    apply(text, config, problems);
    if (!problems.empty()) return problems.error();
    return config;
}

TEST(ExecutorConfig, ReadsTheFile) {
    const auto config = executor_from(
        "log: {level: debug}\n"
        "state: /srv/executor\n"
        "agent_user: kube-agent\n"
        "allow:\n"
        "  directories:\n"
        "    data-file: [/srv/pki]\n"
        "    claim: []\n"
        "  units: [kubelet@blue.service]\n"
        "  sysctls: [net.ipv4.*]\n"
        "  modules: []\n"
        "  executables: [/usr/bin/kubeadm]\n"
        "  components: [kubelet]\n");
    ASSERT_TRUE(config) << config.error().what;
    EXPECT_EQ(config->agent_user, "kube-agent");
    EXPECT_EQ(config->state, "/srv/executor");
    EXPECT_THAT(config->allow.directories.at("data-file"), ElementsAre("/srv/pki"));
    EXPECT_THAT(config->allow.directories.at("claim"), IsEmpty());
    EXPECT_EQ(config->allow.directories.at("unmounted"), Allowed{}.directories.at("unmounted"));
    EXPECT_THAT(config->allow.units, ElementsAre("kubelet@blue.service"));
    EXPECT_THAT(config->allow.sysctls, ElementsAre("net.ipv4.*"));
    EXPECT_THAT(config->allow.modules, IsEmpty());
    EXPECT_THAT(config->allow.executables, ElementsAre("/usr/bin/kubeadm"));
    EXPECT_EQ(config->origins.at("allow.directories.data-file"), "executor.yaml");
    EXPECT_EQ(config->origins.count("allow.directories.unmounted"), 0U);
}

TEST(ExecutorConfig, NamesTheWrongItem) {
    EXPECT_EQ(
        executor_from("allow:\n  units:\n    - kubelet.service\n    - kubelet\n").error().what,
        "executor.yaml:4:7: allow.units[1]: expected a unit name, such as kubelet.service, "
        "found \"kubelet\"");
    EXPECT_EQ(executor_from("allow: {units: kubelet.service}").error().what,
              "executor.yaml:1:16: allow.units: expected a list, [] for none, "
              "found \"kubelet.service\"");
    EXPECT_EQ(executor_from("allow: {modules: [{a: b}]}").error().what,
              "executor.yaml:1:19: allow.modules[0]: expected a kernel module, such as "
              "br_netfilter, found a mapping");
    EXPECT_EQ(executor_from("allow: {directories: [/etc]}").error().what,
              "executor.yaml:1:22: allow.directories: expected a mapping, found a list");
}

TEST(ExecutorConfig, ListsTheStepTypesThatNameAPath) {
    const auto refused = executor_from("allow: {directories: {datafile: [/a]}}");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().what,
              "executor.yaml:1:23: unknown key \"allow.directories.datafile\": expected one of "
              "absent-path, claim, data-file, deleted-tree, directory, managed-block, secret-file, "
              "symlink, unmounted; the nearest is \"data-file\"");
}

TEST(ExecutorConfig, CannotAllowADeniedSysctl) {
    const auto refused = executor_from("allow: {sysctls: [kernel.panic, kernel.core_pattern]}");
    EXPECT_THAT(refused.error().what, HasSubstr("1:33: allow.sysctls[1]: expected a sysctl key"));
    EXPECT_THAT(refused.error().what, HasSubstr("found \"kernel.core_pattern\""));
}

TEST(ExecutorConfig, DefaultsExcludeFilesThatRootExecutes) {
    const Lists lists = Allowed{}.directories;
    for (const std::string type : {"data-file", "secret-file"}) {
        EXPECT_THAT(lists.at(type), Not(Contains("/etc/kubernetes"))) << type;  // static pods
        EXPECT_THAT(lists.at(type), Not(Contains("/var/lib/kubelet"))) << type;
        EXPECT_THAT(lists.at(type), Not(Contains("/opt/kubexm"))) << type;
    }
    // A line of /etc/fstab can mount anything anywhere at the next boot.
    EXPECT_THAT(lists.at("managed-block"), ElementsAre("/etc/hosts"));
    EXPECT_THAT(Allowed{}.executables, IsEmpty());
}

TEST(ExecutorConfig, DefaultsClaimOnlyWhatAJoinMakes) {
    const Lists lists = Allowed{}.directories;
    EXPECT_THAT(lists.at("unmounted"), IsEmpty());
    for (const std::string shared : {"/etc/cni", "/opt/cni", "/var/lib/cni", "/run/containerd",
                                     "/var/lib/containerd", "/var/lib/kube-proxy"}) {
        EXPECT_THAT(lists.at("claim"), Not(Contains(shared)));
    }
}

TEST(ExecutorConfig, DefaultsSatisfyTheRules) {
    const Allowed defaults;
    for (const auto& [type, paths] : defaults.directories) {
        for (const std::string& path : paths) EXPECT_TRUE(is_absolute_path(path)) << path;
    }
    for (const std::string& name : defaults.units) EXPECT_TRUE(is_unit_name(name)) << name;
    for (const std::string& key : defaults.sysctls) {
        EXPECT_TRUE(is_allowed_sysctl_pattern(key)) << key;
    }
    for (const std::string& name : defaults.modules) EXPECT_TRUE(is_module_name(name)) << name;
    for (const std::string& name : defaults.links) EXPECT_TRUE(is_link_name(name)) << name;
    for (const std::string& name : defaults.components) {
        EXPECT_TRUE(is_component_name(name)) << name;
    }
}

TEST(LoadExecutor, UsesDefaultsWithoutAFile) {
    const Scratch scratch;
    EXPECT_EQ(load_executor(scratch.path("executor.yaml")), ExecutorConfig{});
}

TEST(LoadExecutor, RefusesAFileThatOthersCanWrite) {
    const Scratch scratch;
    const std::string file = scratch.write("executor.yaml", "agent_user: other\n");
    const auto config = load_executor(file);
    if (::geteuid() == 0) {
        ASSERT_TRUE(config) << config.error().what;
        EXPECT_EQ(config->agent_user, "other");
    } else {
        ASSERT_FALSE(config);
        EXPECT_EQ(config.error().code, Code::denied);
    }
    ASSERT_EQ(::chmod(file.c_str(), 0664), 0);
    const auto refused = load_executor(file);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::denied);
    EXPECT_THAT(refused.error().what, HasSubstr(file + ": expected"));
}

}  // namespace
}  // namespace kubexm::config
