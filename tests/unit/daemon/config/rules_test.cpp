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

TEST_P(Rules, TellRightFromWrong) {
    for (const std::string& text : GetParam().right) EXPECT_EQ(GetParam().rule(text), "") << text;
    for (const std::string& text : GetParam().wrong) EXPECT_NE(GetParam().rule(text), "") << text;
}

INSTANTIATE_TEST_SUITE_P(
    Config, Rules,
    testing::Values(
        Case{absolute_path,
             {"/a", "/etc/kubernetes", "/a b/节点", "/...", "/.hidden"},
             {"", "/", "a", "./a", "/a/", "//a", "/a//b", "/.", "/a/../b", "/a/.", "/..", "/a\nb",
              "/" + std::string(256, 'a'), std::string("/a\0b", 4)}},
        Case{socket_path,
             {"/run/h.sock", "/" + std::string(106, 'a')},
             {"", "run", "/run/", "/" + std::string(107, 'a')}},
        Case{path_or_nothing, {"", "/a"}, {"a", "/"}},
        Case{host_name_or_nothing,
             {"", "h1", "rack-7.example.org"},
             {"H1", "a_b", "-a", "a.", ".a", "a..b", std::string(64, 'a')}},
        Case{namespace_name, {"default", "team-7"}, {"", "a.b", "A", "-a", std::string(64, 'a')}},
        Case{loopback_address,
             {"127.0.0.1:10240", "[::1]:1", "127.0.0.1:65535"},
             {"", "127.0.0.1", "0.0.0.0:10240", "localhost:10240", "127.0.0.1:0", "127.0.0.1:65536",
              "127.0.0.1:1x", ":10240", "::1:10240"}},
        Case{user_name, {"kubexm", "_apt", "a-b_1"}, {"", "Root", "1a", "-a", "a b", "a:b"}},
        Case{unit_name,
             {"kubelet.service", "a@b.service", "var-lib\\x2da.mount", "dev-sda1.swap"},
             {"", "kubelet", ".service", "a/b.service", "kube*.service", "a b.service",
              "../a.service", "a.service\n", std::string(250, 'a') + ".service"}},
        Case{module_name, {"br_netfilter", "ip_vs", "snd-pcm"}, {"", "a.ko", "../a", "a b", "a/b"}},
        Case{link_name,
             {"cni0", "flannel.1", "kube-ipvs0", "a23456789012345"},
             {"", ".", "..", "a/b", "a b", "cni*", "a234567890123456"}},
        Case{component_name,
             {"kubelet", "cni-plugins", "a.b_c"},
             {"", ".", "..", "-a", "a/b", "a b"}},
        Case{sysctl_pattern,
             {"net.ipv4.ip_forward", "fs.inotify.*", "net.ipv4.*", "kernel.panic",
              "vm.max_map_count", "net.bridge.bridge-nf-call-iptables", "kernel.panic_on_oops"},
             {"", "*", ".*", "kernel", "kernel.", ".panic", "a..b", "kernel/panic",
              "net.*.forwarding", "net.ipv4.conf.eth0/1.forwarding", "kernel.panic*",
              "kernel.pa nic", "fs.inotify.**"}}));

TEST(DeniedSysctls, AreRefusedByNameAndByEveryPatternThatMeansThem) {
    for (const std::string key :
         {"kernel.core_pattern", "kernel.modprobe", "kernel.hotplug", "kernel.poweroff_cmd",
          "kernel.*", "kernel.usermodehelper.bset", "kernel.usermodehelper.*", "fs.*",
          "fs.binfmt_misc.register", "fs.binfmt_misc.a.b", "fs.suid_dumpable",
          "kernel.yama.ptrace_scope", "vm.*", "net.core.*", "net.*", "kernel.randomize_va_space"}) {
        EXPECT_TRUE(model::is_denied_sysctl(key)) << key;
        EXPECT_NE(sysctl_pattern(key), "") << key;
    }
}

TEST(DeniedSysctls, LeaveTheirNeighboursAlone) {
    for (const std::string key :
         {"kernel.core_uses_pid", "kernel.panic", "fs.inotify.*", "fs.file-max", "kernel.yamal",
          "kernel.modprobe_path", "net.ipv4.*", "vm.swappiness"}) {
        EXPECT_FALSE(model::is_denied_sysctl(key)) << key;
    }
}

}  // namespace
}  // namespace kubexm::config
