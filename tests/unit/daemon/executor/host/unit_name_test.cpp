#include "daemon/executor/host/unit_name.hpp"

#include "scratch.hpp"

namespace kubexm::executor {
namespace {

TEST(UnitName, FollowsTheGrammarOfSystemd) {
    for (const char* name :
         {"kubelet.service", "a.b.mount", "getty@tty1.service", "-.mount", "x@y@z.socket",
          "var-lib-kubelet.mount", R"(dev-disk-by\x2duuid-1.swap)", "A:B_c.timer"}) {
        EXPECT_THAT(check_unit_name(name), IsOk()) << name;
    }
    EXPECT_THAT(check_unit_name(std::string(247, 'a') + ".service"), IsOk());
}

TEST(UnitName, OfAMountShowsWhetherItsPathMayBeBelow) {
    EXPECT_TRUE(may_name_a_path_below("var-lib-kubelet-pods.mount", "/var/lib/kubelet"));
    EXPECT_TRUE(may_name_a_path_below("var-lib-kubelet-pods.mount", "/var/lib/kubelet/"));
    EXPECT_TRUE(may_name_a_path_below("var-lib-kubelet-pods.mount", "/"));
    EXPECT_TRUE(may_name_a_path_below("var-lib-kubelet-pods.mount", ""));
    EXPECT_FALSE(may_name_a_path_below("var-lib-kubelet.mount", "/var/lib/kubelet"));
    EXPECT_FALSE(may_name_a_path_below("var-lib-kubelets-a.mount", "/var/lib/kubelet"));
    EXPECT_FALSE(may_name_a_path_below("-.mount", "/var"));
}

TEST(UnitName, OfAMountIsEscapedAsSystemdDoes) {
    EXPECT_TRUE(may_name_a_path_below(R"(a\x2db-c.mount)", "/a-b"));
    EXPECT_FALSE(may_name_a_path_below("a-b-c.mount", "/a-b"));
    EXPECT_TRUE(may_name_a_path_below(R"(\x2ea.b-c.mount)", "/.a.b"));
    EXPECT_TRUE(may_name_a_path_below(R"(k\xc3\xbc-c.mount)", "/k\xc3\xbc"));
    EXPECT_TRUE(may_name_a_path_below(R"(a\x5cb-c.mount)", R"(/a\b)"));
}

TEST(UnitName, OfAMountThatMayBeShortenedMatchesAnyDirectory) {
    EXPECT_TRUE(may_name_a_path_below(std::string(200, 'x') + "_0123456789abcdef.mount", "/a"));
}

struct Bad {
    std::string name;
    std::string expected;
};

TEST(UnitName, IsInvalidOtherwise) {
    const std::vector<Bad> bad = {
        {"", "a type"},
        {"kubelet", "a type"},
        {"kubelet.", "a type"},
        {"kubelet.conf", "a type"},
        {"kubelet.Service", "a type"},
        {"kubelet.service.d/x", "a type"},
        {".service", "a name before the type"},
        {"@.service", "a name before the @"},
        {"@a.service", "a name before the @"},
        {"getty@.service", "an instance"},
        {"/etc/passwd.service", "only letters"},
        {"../kubelet.service", "only letters"},
        {"kube let.service", "only letters"},
        {"kubelet*.service", "only letters"},
        {"k\xc3\xbc.service", "only letters"},
        {std::string("a\0b.service", 11), "only letters"},
        {"a\nb.service", R"("a\nb.service")"},
        {std::string(248, 'a') + ".service", "at most 255"},
    };
    for (const auto& [name, expected] : bad) {
        EXPECT_THAT(check_unit_name(name), IsError(Code::invalid, expected)) << name;
    }
}

}  // namespace
}  // namespace kubexm::executor
