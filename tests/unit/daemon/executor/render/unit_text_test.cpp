#include "daemon/executor/render/unit_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/executor/render/render.hpp"
#include "tests/unit/daemon/executor/render/examples.hpp"

namespace kubexm::executor {
namespace {

TEST(CommandWord, IsReadBackBySystemdUnchanged) {
    EXPECT_EQ(command_word("--node-labels=a=b"), R"("--node-labels=a=b")");
    EXPECT_EQ(command_word(""), R"("")");
    EXPECT_EQ(command_word("two words; # one"), R"("two words; # one")");
}

TEST(CommandWord, ExpandsNoSpecifierAndNoVariable) {
    EXPECT_EQ(command_word("100%n"), R"("100%%n")");
    EXPECT_EQ(command_word("$HOME ${X} $$"), R"("$$HOME $${X} $$$$")");
}

TEST(CommandWord, StaysInsideItsQuotes) {
    EXPECT_EQ(command_word(R"(a" "--x)"), R"("a\" \"--x")");
    EXPECT_EQ(command_word(R"(a\)"), R"("a\\")");
    EXPECT_EQ(command_word(R"(\"')"), R"("\\\"'")");
}

TEST(EnvironmentWord, KeepsTheDollarSign) {
    EXPECT_EQ(environment_word("A=$B%c\"\\"), R"("A=$B%%c\"\\")");
}

TEST(Filled, DoesNotExpandTheValueAgain) {
    EXPECT_EQ(filled("ExecStart=/bin/a @FLAGS@\nRestart=always\n", "@FLAGS@", "--b=@FLAGS@"),
              "ExecStart=/bin/a --b=@FLAGS@\nRestart=always\n");
}

TEST(CommandIn, ReadsBackWhatWasRendered) {
    const auto unit = render(examples().front().document);
    ASSERT_TRUE(unit) << unit.error().what;
    EXPECT_THAT(
        command_in(unit->content),
        testing::ElementsAre("/usr/local/bin/kubelet", "--config=/var/lib/kubelet/config.yaml",
                             "--kubeconfig=/etc/kubernetes/kubelet.conf",
                             "--hostname-override=host-1.example.com", "--node-ip=10.0.0.5",
                             "--provider-id=byoh://host-1.example.com",
                             "--node-labels=site=a,node.kubernetes.io/pool=",
                             "--register-with-taints=example.com/team=a:NoSchedule,gpu:NoExecute"));
    EXPECT_THAT(command_in("[Service]\nType=oneshot\n"), testing::IsEmpty());
    EXPECT_THAT(command_in(""), testing::IsEmpty());
}

TEST(StartSettingIn, FindsWhatStartsSomethingElse) {
    for (const auto& [text, setting] : std::vector<std::pair<std::string_view, std::string_view>>{
             {"[Service]\nEnvironment=A=b\nExecStart=\nExecStart=/usr/bin/kubelet", "ExecStart"},
             {"[Service]\n  ExecStart = /usr/bin/kubelet", "ExecStart"},
             {"[Service]\nExecStartPre=-/sbin/swapoff -a", "ExecStartPre"},
             {"ExecStopPost=/bin/true", "ExecStopPost"},
             {"User=nobody", "User"},
             {"RootDirectory=/srv/other", "RootDirectory"},
             {"BindReadOnlyPaths=/opt/kubelet:/usr/local/bin/kubelet", "BindReadOnlyPaths"},
             {"Environment=A=b \"LD_PRELOAD=/opt/lib.so\"", "Environment"}}) {
        EXPECT_EQ(start_setting_in(text), setting) << text;
    }
}

TEST(StartSettingIn, LeavesTheRestToItsOwner) {
    for (const char* text :
         {"[Service]\n#ExecStart=/usr/bin/kubelet\n", "Environment=ExecStart=x\nExecStart\n", "",
          "ExecStartPre=\nUser=\n", "Environment=HTTPS_PROXY=http://proxy:3128 A=LD_PRELOAD=x",
          "EnvironmentFile=-/etc/default/kubelet", "MemoryMax=1G\nSlice=system.slice\n"}) {
        EXPECT_EQ(start_setting_in(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace kubexm::executor
