#include "daemon/config/rules.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/model/denied_sysctls.hpp"

namespace kubexm::config {
namespace {

struct Case {
    Rule rule;
    std::vector<std::string> right;
    std::vector<std::string> wrong;
};

class Rules : public testing::TestWithParam<Case> {};

TEST_P(Rules, AcceptAndRefuse) {
    for (const auto& text : GetParam().right) EXPECT_TRUE(GetParam().rule.holds(text)) << text;
    for (const auto& text : GetParam().wrong) EXPECT_FALSE(GetParam().rule.holds(text)) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Config, Rules,
    testing::Values(
        Case{kOptionalPath, {"", "/a"}, {"a", "/"}},
        Case{kOptionalHostName,
             {"", "h1", "rack-7.example.org"},
             {"H1", "a_b", "-a", "a.", ".a", "a..b", std::string(64, 'a')}},
        Case{kOptionalLoopbackEndpoint,
             {"", "127.0.0.1:10240", "[::1]:1", "127.0.0.1:65535"},
             {"127.0.0.1", "0.0.0.0:10240", "localhost:10240", "127.0.0.1:0", "127.0.0.1:65536",
              "127.0.0.1:1x", "127.0.0.1:01", ":10240", "::1:10240"}},
        Case{kAllowedRegistry,
             {"*", "docker.io", "10.0.0.5:5000", "http://10.0.0.5:5000", "http://mirror"},
             {"", "http://", "http://*", "https://docker.io", "docker.io/library", "*.io"}},
        Case{
            kPodsTimeout, {"2m", "90s", "120s", "0s"}, {"", "2", "121s", "3m", "1h", "-1s", "2 m"}},
        Case{kAllowedSysctlPattern,
             {"net.ipv4.ip_forward", "fs.inotify.*", "net.ipv4.*", "kernel.panic",
              "vm.max_map_count", "net.bridge.bridge-nf-call-iptables", "kernel.panic_on_oops"},
             {"", "*", "net.*.forwarding", "kernel.panic*"}}));

TEST(DeniedSysctls, AreRefusedByNameAndByOverlappingPattern) {
    for (const std::string key :
         {"kernel.core_pattern", "kernel.modprobe", "kernel.hotplug", "kernel.poweroff_cmd",
          "kernel.*", "kernel.usermodehelper.bset", "kernel.usermodehelper.*", "fs.*",
          "fs.binfmt_misc.register", "fs.binfmt_misc.a.b", "fs.suid_dumpable",
          "kernel.yama.ptrace_scope", "vm.*", "net.core.*", "net.*", "kernel.randomize_va_space"}) {
        EXPECT_TRUE(model::is_denied_sysctl(key)) << key;
        EXPECT_FALSE(is_allowed_sysctl_pattern(key)) << key;
    }
}

TEST(DeniedSysctls, DoNotMatchSimilarKeys) {
    for (const std::string key :
         {"kernel.core_uses_pid", "kernel.panic", "fs.inotify.*", "fs.file-max", "kernel.yamal",
          "kernel.modprobe_path", "net.ipv4.*", "vm.swappiness"}) {
        EXPECT_FALSE(model::is_denied_sysctl(key)) << key;
    }
}

}  // namespace
}  // namespace kubexm::config
