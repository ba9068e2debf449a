#include "daemon/hands/steps/diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kubexm::hands {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(UnifiedDiff, EqualTextsHaveNone) {
    EXPECT_THAT(unified_diff("/f", "a\nb\n", "a\nb\n"), IsEmpty());
}

TEST(UnifiedDiff, ANewFileIsAllAdditions) {
    EXPECT_THAT(unified_diff("/f", "", "a\nb\n"),
                ElementsAre("--- /f", "+++ /f", "@@ -0,0 +1,2 @@", "+a", "+b"));
}

TEST(UnifiedDiff, AChangeStandsInItsContext) {
    EXPECT_THAT(unified_diff("/f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
                ElementsAre("--- /f", "+++ /f", "@@ -2,7 +2,7 @@", " 2", " 3", " 4", "-5", "+five",
                            " 6", " 7", " 8"));
}

TEST(UnifiedDiff, DistantChangesAreTwoHunks) {
    const std::string before = "a\n1\n2\n3\n4\n5\n6\n7\n8\nz\n";
    EXPECT_THAT(unified_diff("/f", before, "A\n1\n2\n3\n4\n5\n6\n7\n8\nZ\n"),
                ElementsAre("--- /f", "+++ /f", "@@ -1,4 +1,4 @@", "-a", "+A", " 1", " 2", " 3",
                            "@@ -7,4 +7,4 @@", " 6", " 7", " 8", "-z", "+Z"));
}

TEST(UnifiedDiff, ALastLineWithoutNewlineCounts) {
    EXPECT_THAT(unified_diff("/f", "a", "a\nb"),
                ElementsAre("--- /f", "+++ /f", "@@ -1,1 +1,2 @@", " a", "+b"));
}

TEST(UnifiedDiff, IsBounded) {
    std::string many;
    for (int i = 0; i < 1000; ++i) many += std::to_string(i) + "\n";
    const auto diff = unified_diff("/f", "", many);
    EXPECT_EQ(diff.size(), kMaxDiffLines + 1);
    EXPECT_EQ(diff.back(), "... 803 more lines");
    std::string huge;
    for (int i = 0; i < 3000; ++i) huge += "x\n";
    EXPECT_THAT(unified_diff("/f", "", huge),
                ElementsAre("--- /f", "+++ /f", "0 lines become 3000 lines"));
}

}  // namespace
}  // namespace kubexm::hands
