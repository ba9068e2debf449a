#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../host/systemd_test.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {
namespace {

/// A user who may create files may create one that takes days to read.
class LargeFiles : public SystemdTest {
protected:
    LargeFiles() {
        put(at("/x"), "");
        fs::resize_file(at("/x"), std::uint64_t{1} << 42U);
    }
    Context context(Deadline deadline = soon()) { return {root_, systemd, vault_, deadline, {}}; }
    fs::path at(const std::string& path) const { return scratch_.at(path); }

    Scratch scratch_;
    Root root_ = scratch_.root();
    Vault vault_ = Vault::open(scratch_.top() / "vault").value();
};

TEST_F(LargeFiles, AreNotReadToCheckThatTheyExist) {
    Context working = context();
    for (const model::Step& step : std::initializer_list<model::Step>{
             model::AbsentPath{"/x"}, model::DeletedTree{"/x"}, model::Directory{"/x", {}},
             model::Symlink{"/x", "y"}}) {
        EXPECT_EQ(holds(working, step), false) << model::text_of(step);
    }
}

TEST_F(LargeFiles, DoNotMatchTheContentOfAPlan) {
    Context working = context();
    const model::DataFile step{"/x", model::DataKind::ca_bundle, sha256("small"),
                               model::FileAccess{.mode = {0644}}};
    EXPECT_EQ(holds(working, step), false);
    EXPECT_THAT(preview(working, step)->diff,
                testing::Contains(testing::HasSubstr("a larger file ->")));
}

TEST_F(LargeFiles, AreNotReplacedBecauseUndoCouldNotRestoreThem) {
    Context working = context();
    EXPECT_THAT(capture(working, model::AbsentPath{"/x"}),
                IsError(Code::exhausted, "undo could not restore it: move it away"));
    EXPECT_TRUE(fs::exists(at("/x")));
}

TEST_F(LargeFiles, LikeLargeTreesEndWithTheDeadline) {
    fs::create_directories(at("/t/below"));
    put(at("/small"), "content");
    Context late = context(in(0ms));
    EXPECT_THAT(capture(late, model::AbsentPath{"/small"}), IsError(Code::timeout, "/small"));
    EXPECT_THAT(apply(late, model::DeletedTree{"/t"}), IsError(Code::timeout, "/t"));
    Context again = context();
    EXPECT_THAT(apply(again, model::DeletedTree{"/t"}), IsOk());
    EXPECT_FALSE(fs::exists(at("/t")));
}

}  // namespace
}  // namespace kubexm::executor
