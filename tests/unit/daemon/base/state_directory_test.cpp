#include "daemon/base/state_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/temp_directory.hpp"

namespace kubexm {
namespace {

class StateDirectoryTest : public testing::Test {
protected:
    TempDirectory temp_;
    StateDirectory directory_ = StateDirectory::open(temp_.path()).value();
};

TEST_F(StateDirectoryTest, ReplacesAFileForItsOwnerOnly) {
    temp_.write("f", "old and longer");
    ASSERT_TRUE(directory_.replace("f", "new"));
    EXPECT_EQ(temp_.read("f"), "new");
    EXPECT_EQ(std::filesystem::status(temp_ / "f").permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    EXPECT_THAT(directory_.entries().value(), testing::ElementsAre("f"));
}

TEST_F(StateDirectoryTest, ReplacesDespiteTheTemporaryFileOfAKilledWriter) {
    temp_.write("f.new", "half");
    ASSERT_TRUE(directory_.replace("f", "whole"));
    EXPECT_EQ(temp_.read("f"), "whole");
    EXPECT_FALSE(directory_.has("f.new").value());
}

TEST_F(StateDirectoryTest, KeepsTheOldContentWhenItCannotReplace) {
    temp_.write("f", "old");
    std::filesystem::create_directories(temp_ / "f.new/in the way");
    EXPECT_FALSE(directory_.replace("f", "new"));
    EXPECT_EQ(temp_.read("f"), "old");
}

TEST_F(StateDirectoryTest, DoesNotReadThroughALink) {
    temp_.write("f", "x");
    std::filesystem::create_symlink("f", temp_ / "link");
    EXPECT_TRUE(directory_.read("f"));
    EXPECT_EQ(directory_.read("link").error().code, Code::denied);
}

TEST_F(StateDirectoryTest, NamesTheDirectoryThatIsMissing) {
    const auto refused = StateDirectory::open(temp_ / "missing");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::not_found);
    EXPECT_THAT(refused.error().what, testing::HasSubstr(temp_ / "missing"));
}

}  // namespace
}  // namespace kubexm
