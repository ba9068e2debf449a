#include "daemon/executor/steps/block_text.hpp"

#include <gtest/gtest.h>

namespace kubexm::executor {
namespace {

const std::string kBlock = "# kubexm begin: names\n10.0.0.5 h1\n# kubexm end: names\n";

TEST(BlockText, ANewBlockIsAppended) {
    EXPECT_EQ(with_block("127.0.0.1 localhost\n", "names", {"10.0.0.5 h1"}),
              "127.0.0.1 localhost\n" + kBlock);
    EXPECT_EQ(with_block("", "names", {"10.0.0.5 h1"}), kBlock);
    EXPECT_EQ(with_block("no newline", "names", {"10.0.0.5 h1"}), "no newline\n" + kBlock);
}

TEST(BlockText, AnOlderBlockIsReplacedInPlace) {
    EXPECT_EQ(with_block("a\n" + kBlock + "b\n", "names", {"10.0.0.6 h1"}),
              "a\n# kubexm begin: names\n10.0.0.6 h1\n# kubexm end: names\nb\n");
}

TEST(BlockText, WritingTheSameTwiceChangesNothing) {
    const std::string once = with_block("a\n", "names", {"x"});
    EXPECT_EQ(with_block(once, "names", {"x"}), once);
}

TEST(BlockText, RemovalKeepsTheRest) {
    EXPECT_EQ(without_block("a\n" + kBlock + "b\n", "names"), "a\nb\n");
    EXPECT_EQ(without_block("a\n", "names"), "a\n");
}

TEST(BlockText, BlocksOfOtherNamesAndBrokenOnesAreKept) {
    EXPECT_EQ(without_block("a\n" + kBlock, "other"), "a\n" + kBlock);
    const std::string broken = "# kubexm begin: names\n10.0.0.5 h1\n";
    EXPECT_EQ(without_block(broken, "names"), broken);
}

TEST(BlockText, AMarkerInsideALineIsNoMarker) {
    const std::string quoted = "see # kubexm begin: names\nsee # kubexm end: names\n";
    EXPECT_EQ(without_block(quoted, "names"), quoted);
}

}  // namespace
}  // namespace kubexm::executor
