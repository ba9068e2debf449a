#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../host/systemd_test.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {
namespace {

class Blocks : public SystemdTest {
protected:
    Context context() { return {root_, systemd, vault_, soon(), {}}; }
    fs::path file() const { return scratch_.at("/hosts"); }
    static model::ManagedBlock block(const std::string& line) { return {"/hosts", "ours", {line}}; }

    /// The lines of another plan were journaled, and the process died before it wrote them.
    void undo_with_newer_lines_prepared() {
        Context working = context();
        const auto before = capture(working, block("old")).value();
        EXPECT_THAT(apply(working, block("old")), IsOk());
        EXPECT_THAT(undo(working, block("new"), before), IsOk());
    }

    Scratch scratch_;
    Root root_ = scratch_.root();
    Vault vault_ = Vault::open(scratch_.top() / "vault").value();
};

TEST_F(Blocks, LeaveNoFileWhereThereWasNone) {
    undo_with_newer_lines_prepared();
    EXPECT_FALSE(fs::exists(file()));
}

TEST_F(Blocks, RestoreTheTextByteByByte) {
    put(file(), "127.0.0.1 localhost");  // no newline
    undo_with_newer_lines_prepared();
    EXPECT_EQ(content_of(file()), "127.0.0.1 localhost");
}

TEST_F(Blocks, KeepChangesOfOtherOwners) {
    Context working = context();
    const auto before = capture(working, block("ours")).value();
    EXPECT_THAT(apply(working, block("ours")), IsOk());
    put(file(), content_of(file()) + "10.0.0.1 theirs\n");
    EXPECT_THAT(undo(working, block("ours"), before), IsOk());
    EXPECT_EQ(content_of(file()), "10.0.0.1 theirs\n");
}

TEST_F(Blocks, DoNotShowTheOtherLinesOfAPrivateFile) {
    put(file(), "password: theirs\n");
    fs::permissions(file(), fs::perms::owner_read | fs::perms::owner_write);
    Context working = context();
    EXPECT_THAT(apply(working, block("ours")), IsOk());
    working.previous = block("ours");
    const auto shown = preview(working, block("new"));
    ASSERT_TRUE(shown) << shown.error().what;
    EXPECT_THAT(shown->diff, testing::Each(testing::Not(testing::HasSubstr("password"))));
}

}  // namespace
}  // namespace kubexm::executor
