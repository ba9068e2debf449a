#include "daemon/base/grammar.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kubexm {
namespace {

std::string times(std::size_t count, const std::string& text) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
}

const std::string kDigest = times(64, "a");

struct Grammar {
    std::string name;
    Rule rule;
    std::vector<std::string> accepted;
    std::vector<std::string> refused;
};

std::vector<Grammar> grammars() {
    return {
        {"DnsLabel",
         kDnsLabel,
         {"default", "team-7", times(63, "a")},
         {"", "a.b", "A", "-a", "a-", times(64, "a")}},
        {"UserName",
         kUserName,
         {"kubexm", "_apt", "a-b_1", times(32, "a")},
         {"", "Root", "1a", "-a", "a b", "a:b", times(33, "a")}},
        {"UnitName",
         kUnitName,
         {"kubelet.service", "a@b.service", "var-lib\\x2da.mount", "dev-sda1.swap", "a:b.scope",
          "a.b.mount", "-.mount", "x@y@z.socket", "A:B_c.timer", times(247, "a") + ".service"},
         {"", "kubelet", "kubelet.", "kubelet.Service", "kubelet.service.d/x", ".service",
          "service", "a/b.service", "kube*.service", "a b.service", "../a.service", "a.service\n",
          "@.service", "@a.service", "getty@.service", "a.unit", "k\xc3\xbc.service",
          std::string("a\0b.service", 11), times(248, "a") + ".service"}},
        {"ComponentName",
         kComponentName,
         {"kubelet", "cni-plugins", "a.b_c"},
         {"", ".", "..", "-a", "a/b", "a b", times(65, "a")}},
        {"LinkName",
         kLinkName,
         {"cni0", "flannel.1", "kube-ipvs0", "a23456789012345"},
         {"", ".", "..", "a/b", "a b", "cni*", "a234567890123456"}},
        {"AbsolutePath",
         kAbsolutePath,
         {"/a", "/etc/kubernetes", "/a b/节点", "/...", "/.hidden", "/" + times(255, "a")},
         {"", "/", "a", "./a", "/a/", "//a", "/a//b", "/.", "/a/../b", "/a/.", "/..", "/a\nb",
          "/a\\b", "/\xff", "/" + times(256, "a"), std::string("/a\0b", 4), times(513, "/a")}},
        {"SocketPath",
         kSocketPath,
         {"/run/h.sock", "/" + times(106, "a")},
         {"", "run", "/run/", "/" + times(107, "a")}},
        {"DnsName",
         kDnsName,
         {"a", "cluster.local", "1e3", "a--b", times(63, "a"), times(126, "a.") + "a"},
         {"", ".", "a.", ".a", "a..b", "-a", "a-", "A", "a_b", "ä", times(64, "a"),
          times(127, "a.") + "a"}},
        {"NodeName",
         kNodeName,
         {"h1", "10.0.0.5", "h1.example.com", times(63, "a")},
         {"", "H1", "h_1", "-h", times(32, "a.") + "a"}},
        {"ProviderId",
         kProviderId,
         {"byoh://h1", "byoh://h1/x7k2p9", "aws:///eu-1/i-0", "byoh://" + times(505, "a")},
         {"", "byoh", "byoh:/h1", "byoh://", "://h1", "B://h1", "byoh://h 1", "byoh://h1?x",
          "byoh://" + times(506, "a")}},
        {"LabelKey",
         kLabelKey,
         {"a", "A_b.c-d", "example.com/site", times(63, "a"), "a/" + times(63, "b")},
         {"", "/", "/a", "a/", "a/b/c", "-a", "a-", ".a", "a=b", "a,b", "a:b", "Example.com/a",
          times(64, "a"), times(127, "a.") + "a/b"}},
        {"LabelValue",
         kLabelValue,
         {"", "a", "A_b.c-d", "1"},
         {"-a", "a-", "a b", "a=b", "a/b", "a,b", "a:b", times(64, "a")}},
        {"ServerUrl",
         kServerUrl,
         {"https://10.0.0.1:6443", "https://api.example.com", "https://[fd00::1]:6443",
          "https://[::1]", "https://a:1", "https://a:65535"},
         {"",
          "https://",
          "http://a",
          "HTTPS://a",
          "a:6443",
          "https://a/",
          "https://a:0",
          "https://a:65536",
          "https://a:06443",
          "https://a:",
          "https://a:b",
          "https://a:+1",
          "https://a:1:2",
          "https://u:p@a",
          "https://a?b",
          "https://a#b",
          "https://10.0.0.256",
          "https://10.0.0.1.",
          "https://[10.0.0.1]",
          "https://[fd00::1",
          "https://[fd00::1]6443",
          "https://fd00::1",
          "https://[fe80::1%eth0]",
          "https://A"}},
        {"ProxyUrl",
         kProxyUrl,
         {"http://p:3128", "https://p", "socks5://10.0.0.1:1080"},
         {"", "p:3128", "http://", "http://p/", "http://user:secret@p:3128", "ftp://p",
          "http://p:3128,http://q", "http://p p"}},
        {"NoProxyList",
         kNoProxyList,
         {"*", "a", "a,b", ".svc,*.local", "10.0.0.0/8,fd00::/8", "10.0.0.1,fd00::1",
          "a.example.com:8080,10.0.0.1:80,[fd00::1]:80", "10.0.0.0/0"},
         {"", ",", "a,", ",a", "a, b", "a,,b", "10.0.0.0/33", "fd00::/129", "10.0.0.0/08",
          "10.0.0.0/", "10.0.0/8", "a/8", "*a", "..a", "*..a", "a:b", "**",
          times(2000, "a,b,") + "a"}},
        {"NodeAddress",
         kNodeAddress,
         {"10.0.0.5", "192.168.1.1", "2001:db8::1", "fd00::1", "10.0.0.5,fd00::5",
          "fd00::5,10.0.0.5"},
         {"",
          "0.0.0.0",
          "::",
          "127.0.0.1",
          "::1",
          "169.254.1.1",
          "fe80::1",
          "224.0.0.1",
          "ff02::1",
          "255.255.255.255",
          "::ffff:10.0.0.5",
          "10.0.0.05",
          "10.0.0",
          "10.0.0.256",
          "10.0.0.5/24",
          "h1",
          "10.0.0.5,10.0.0.6",
          "fd00::1,fd00::2",
          "10.0.0.5,",
          ",fd00::5",
          "10.0.0.5, fd00::5",
          "10.0.0.5,fd00::5,fd00::6",
          "10.0.0.5,::",
          "fd00::5%eth0"}},
        {"DnsServer",
         kDnsServer,
         {"10.96.0.10", "169.254.20.10", "fd00::a", "fe80::a"},
         {"", "0.0.0.0", "127.0.0.53", "::1", "239.1.1.1", "dns.example.com",
          "10.96.0.10,10.96.0.11", "10.96.0.10:53"}},
        {"ImageReference",
         kImageReference,
         {"pause", "pause:3.10", "registry.k8s.io/pause:3.10",
          "registry.k8s.io/pause@sha256:" + kDigest, "registry.k8s.io/pause:3.10@sha256:" + kDigest,
          "localhost/pause", "reg:5000/a/b/pause", "10.0.0.1:5000/pause:3.10",
          "[fd00::1]:5000/pause", "a__b/c--d/e.f_g", "pause:_3", times(255, "a")},
         {"",
          ":3.10",
          "Pause",
          "pause:",
          "pause:.3",
          "pause:-3",
          "pause:3 10",
          "pause:" + times(129, "a"),
          "pause@",
          "pause@sha256:abc",
          "pause@sha256:" + times(64, "A"),
          "pause@md5:" + kDigest,
          "a@b@sha256:" + kDigest,
          "/pause",
          "a//b",
          "a/",
          "a..b",
          "a___b",
          "-a",
          "a-",
          "a._b",
          "reg:0/pause",
          "reg:99999/pause",
          "reg:/pause",
          "http://reg/pause",
          "reg.io/Pause",
          "a:b:c",
          times(256, "a")}},
        {"SysctlKey",
         kSysctlKey,
         {"net.ipv4.ip_forward", "net.bridge.bridge-nf-call-iptables",
          "net.ipv4.conf.eth0.rp_filter", "vm.max_map_count"},
         {"", "kernel", ".a", "a.", "a..b", "-net.ipv4.ip_forward", "net.-a", "net.ipv4.conf.*.x",
          "net/ipv4/ip_forward", "a.b=c", "a.b c", "a." + times(254, "b")}},
        {"SysctlPattern",
         {is_sysctl_pattern, ""},
         {"net.ipv4.ip_forward", "fs.inotify.*", "net.*", "net.bridge.bridge-nf-call-iptables"},
         {"", "*", ".*", "kernel", "kernel.", ".panic", "a..b", "a..*", "kernel/panic",
          "net.*.forwarding", "kernel.panic*", "kernel.pa nic", "fs.inotify.**", "-kernel.*",
          times(254, "a") + ".*"}},
        {"SysctlValue",
         kSysctlValue,
         {"1", "-1", "4096 87380 6291456", "bbr", "30000-32767,40000", "0:1", times(255, "1")},
         {"", " ", " 1", "1 ", "1  2", "--1", "-a", "-", "1\t2", "|/bin/sh", "/bin/sh", "a=b",
          times(256, "1")}},
        {"ModuleName",
         kModuleName,
         {"overlay", "br_netfilter", "nf-conntrack", "8021q", "ip_vs_rr"},
         {"", "-overlay", "a b", "a.ko", "a/b", "#a", ";a", times(56, "a")}},
    };
}

class Grammars : public testing::TestWithParam<Grammar> {};

TEST_P(Grammars, Accept) {
    for (const std::string& text : GetParam().accepted) {
        EXPECT_TRUE(GetParam().rule.holds(text)) << "\"" << text << "\"";
    }
}

TEST_P(Grammars, Refuse) {
    for (const std::string& text : GetParam().refused) {
        EXPECT_FALSE(GetParam().rule.holds(text)) << "\"" << text << "\"";
    }
}

INSTANTIATE_TEST_SUITE_P(Render, Grammars, testing::ValuesIn(grammars()),
                         [](const auto& grammar) { return grammar.param.name; });

}  // namespace
}  // namespace kubexm
