#include "daemon/executor/host/unit_name.hpp"

#include "scratch.hpp"

namespace kubexm::executor {
namespace {

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

TEST(UnitName, IsQuotedPrintablyWhereItIsRefused) {
    EXPECT_THAT(check_unit_name("a\nb.service"), IsError(Code::invalid, R"("a\nb.service")"));
}

}  // namespace
}  // namespace kubexm::executor
