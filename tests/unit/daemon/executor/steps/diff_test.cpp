#include "daemon/executor/steps/diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kubexm::executor {
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

TEST(UnifiedDiff, AChangeIsShownInContext) {
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
    for (int i = 0; i < 500; ++i) many += std::to_string(i) + "\n";
    const auto diff = shorten_preview(unified_diff("/f", "", many));
    EXPECT_EQ(diff.size(), kMaxPreviewLines + 1);
    EXPECT_EQ(diff.back(), "... 303 more lines");
    std::string huge;
    for (int i = 0; i < 3000; ++i) huge += "x\n";
    EXPECT_THAT(unified_diff("/f", "", huge),
                ElementsAre("--- /f", "+++ /f", "0 lines become 3000 lines"));
}

TEST(Preview, OfShortLinesIsNotCut) {
    const std::vector<std::string> lines{"a", "", std::string(kMaxPreviewLine, 'b')};
    EXPECT_EQ(shorten_preview(lines), lines);
    EXPECT_THAT(shorten_preview({}), IsEmpty());
}

TEST(Preview, OfALongLineSaysHowMuchWasCut) {
    EXPECT_THAT(shorten_preview({"+" + std::string(5000, 'x')}),
                ElementsAre("+" + std::string(999, 'x') + "... 4001 more bytes"));
}

TEST(Preview, DoesNotCutThroughACharacter) {
    const std::string line = std::string(999, 'x') + "\u20ac" + "end";  // three bytes
    EXPECT_THAT(shorten_preview({line}), ElementsAre(std::string(999, 'x') + "... 6 more bytes"));
    const std::string no_text(1200, '\x80');
    EXPECT_THAT(shorten_preview({no_text}),
                ElementsAre(std::string(997, '\x80') + "... 203 more bytes"));
}

TEST(Preview, FitsIntoAFrame) {
    const std::vector<std::string> lines(300, std::string(900, '\x01'));
    const auto shown = shorten_preview(lines);
    EXPECT_EQ(shown.size(), 31U + 1);
    EXPECT_EQ(shown.back(), "... 269 more lines");
}

}  // namespace
}  // namespace kubexm::executor
