#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../host/path_units.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/model/remaining.hpp"
#include "engine_host.hpp"

namespace kubexm::executor {
namespace {

using model::Remaining;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

/// A host with a file of somebody else at /etc/d/theirs, and links of ours in its place and beside
/// it. Its undo fails while the vault has lost the file's content.
class UndoOfLinks : public EngineHost {
protected:
    UndoOfLinks() {
        have_units(fake, "Where", {});  // no mounts below the claim
        std::filesystem::create_directory(scratch_.at("/etc/d"));
        put(scratch_.at("/etc/d/theirs"), kContent);
        engine.allow({.directories = {{"symlink", {"/etc"}}, {"claim", {"/etc"}}}});
        EXPECT_THAT(applied({"p", "machine-1", steps()}), IsState(PlanState::done));
        put(scratch_.at("/etc/d/new"), "new, and claimed");
    }
    static std::vector<model::Step> steps() {
        return {model::Symlink{"/etc/first", "x"}, model::Claim{"/etc/d", std::nullopt},
                model::Symlink{"/etc/d/theirs", "x"}, model::Symlink{"/etc/last", "x"}};
    }
    std::string blob() const { return state() + "/content/" + sha256(kContent); }
    void lose_content() const { std::filesystem::rename(blob(), state() + "/lost"); }
    void find_content() const { std::filesystem::rename(state() + "/lost", blob()); }

    Result<PlanState> undone(const Stop& stop = {}) {
        auto record = engine.accept_undo(fmt::format("u{}", ++undos_), "machine-1", kAgentCaller);
        if (!record) return std::unexpected(record.error());
        return carried_out(*record, stop);
    }
    std::vector<Remaining> stays() {
        return model::stays_from_json(engine.plan(fmt::format("u{}", undos_))->stays)->named;
    }
    bool unfinished() { return !engine.unfinished_undos().value().empty(); }
    bool exists(const std::string& path) const {
        return std::filesystem::is_symlink(scratch_.at(path)) ||
               std::filesystem::exists(scratch_.at(path));
    }

    static constexpr const char* kContent = "theirs";
    int undos_ = 0;
};

TEST_F(UndoOfLinks, GoesOnWithWhatDoesNotDependOnAFailure) {
    lose_content();
    EXPECT_THAT(undone(), IsState(PlanState::failed));
    EXPECT_FALSE(exists("/etc/last"));
    EXPECT_FALSE(exists("/etc/first"));
    EXPECT_TRUE(exists("/etc/d/new")) << "the claim contains the link that stays";
    EXPECT_THAT(stays(),
                ElementsAre(AllOf(Field(&Remaining::object, "content of /etc/d"),
                                  Field(&Remaining::why, HasSubstr("waits for link /etc/d/theirs")),
                                  Field(&Remaining::blocks_join, true)),
                            AllOf(Field(&Remaining::object, "link /etc/d/theirs"),
                                  Field(&Remaining::why, HasSubstr("kubexmctl undo machine-1")),
                                  Field(&Remaining::blocks_join, false))))
        << "first what harms the next join";
    EXPECT_THAT(waits_, ElementsAre(1s, 5s, 25s));
}

TEST_F(UndoOfLinks, IsTriedAgainUntilItSucceeds) {
    lose_content();
    on_wait_ = [&] {
        if (waits_.size() == 2) find_content();
    };
    EXPECT_THAT(undone(), IsState(PlanState::undone));
    EXPECT_THAT(waits_, ElementsAre(1s, 5s));
    EXPECT_EQ(content_of(scratch_.at("/etc/d/theirs")), kContent);
    EXPECT_FALSE(exists("/etc/d/new"));
    EXPECT_THAT(stays(), IsEmpty());
}

TEST_F(UndoOfLinks, IsUnfinishedAfterAFailureUntilANewerPlanOrItsEnd) {
    EXPECT_FALSE(unfinished());
    lose_content();
    EXPECT_THAT(undone(), IsState(PlanState::failed));
    EXPECT_TRUE(unfinished());
    EXPECT_THAT(applied({"again", "machine-1", {model::Symlink{"/etc/first", "x"}}}),
                IsState(PlanState::done));
    EXPECT_FALSE(unfinished());
    find_content();
    EXPECT_THAT(undone(), IsState(PlanState::undone));
    EXPECT_FALSE(unfinished());
}

TEST_F(UndoOfLinks, IsDoneAgainForTheUserWhoAskedForIt) {
    EXPECT_THAT(engine.undo_again("none", "machine-1", kRootCaller),
                IsError(Code::not_found, "unfinished"));
    lose_content();
    EXPECT_THAT(undone(), IsState(PlanState::failed));
    find_content();
    auto again = engine.undo_again("again", "machine-1", kRootCaller);
    ASSERT_THAT(again, IsOk());
    EXPECT_EQ(again->uid, kAgentCaller.uid);
    EXPECT_EQ(again->owner, "machine-1");
    EXPECT_THAT(carried_out(*again), IsState(PlanState::undone));
    EXPECT_FALSE(unfinished());
}

TEST_F(UndoOfLinks, StopsWhileItWaits) {
    lose_content();
    std::stop_source cancel;
    on_wait_ = [&] { cancel.request_stop(); };
    EXPECT_THAT(undone({.cancel = cancel.get_token()}), IsState(PlanState::cancelled));
    EXPECT_THAT(waits_, ElementsAre(1s));
    EXPECT_FALSE(unfinished()) << "somebody stopped it";
}

TEST_F(UndoOfLinks, NamesWhatItDidNotReach) {
    std::stop_source cancel;
    cancel.request_stop();
    EXPECT_THAT(undone({.cancel = cancel.get_token()}), IsState(PlanState::cancelled));
    EXPECT_THAT(stays(), testing::SizeIs(4));
    EXPECT_THAT(stays(), testing::Each(
                             Field(&Remaining::why, AllOf(HasSubstr("stopped on request"),
                                                          HasSubstr("run kubexmctl undo machine-1"),
                                                          testing::Not(HasSubstr("hourly"))))));
}

// --- files and links that somebody changed since

TEST_F(UndoOfLinks, RemovesAndNamesALinkOfOursThatSomebodyChanged) {
    std::filesystem::remove(scratch_.at("/etc/last"));
    std::filesystem::create_symlink("elsewhere", scratch_.at("/etc/last"));
    EXPECT_THAT(undone(), IsState(PlanState::undone));
    EXPECT_FALSE(exists("/etc/last"));
    EXPECT_THAT(stays(), ElementsAre(AllOf(Field(&Remaining::object, "link /etc/last"),
                                           Field(&Remaining::why, HasSubstr("elsewhere")))));
}

TEST_F(UndoOfLinks, MovesAndNamesAFileThatSomebodyPutInPlaceOfOurs) {
    std::filesystem::remove(scratch_.at("/etc/last"));
    put(scratch_.at("/etc/last"), "somebody's");
    EXPECT_THAT(undone(), IsState(PlanState::undone));
    EXPECT_FALSE(exists("/etc/last"));
    const auto kept = names_in(state() + "/changed");
    ASSERT_EQ(kept.size(), 1U);
    const std::string copy = state() + "/changed/" + *kept.begin();
    EXPECT_EQ(content_of(copy), "somebody's");
    EXPECT_EQ(mode_of(copy), 0600U);
    EXPECT_EQ(mode_of(state() + "/changed"), 0700U);
    EXPECT_THAT(stays(), ElementsAre(Field(&Remaining::why, HasSubstr(*kept.begin()))));
}

TEST_F(UndoOfLinks, LeavesAndNamesWhatExistedBeforeAndSomebodyChanged) {
    std::filesystem::remove(scratch_.at("/etc/d/theirs"));
    put(scratch_.at("/etc/d/theirs"), "theirs, newer");
    EXPECT_THAT(undone(), IsState(PlanState::undone));
    EXPECT_EQ(content_of(scratch_.at("/etc/d/theirs")), "theirs, newer");
    const auto kept = names_in(state() + "/changed");
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(content_of(state() + "/changed/" + *kept.begin()), kContent);
    EXPECT_THAT(stays(), ElementsAre(AllOf(Field(&Remaining::object, "link /etc/d/theirs"),
                                           Field(&Remaining::why, HasSubstr("changed")))));
}

TEST_F(UndoOfLinks, RestoresWhatSomebodyRemoved) {
    std::filesystem::remove(scratch_.at("/etc/d/theirs"));
    std::filesystem::remove(scratch_.at("/etc/last"));
    EXPECT_THAT(undone(), IsState(PlanState::undone));
    EXPECT_EQ(content_of(scratch_.at("/etc/d/theirs")), kContent);
    EXPECT_THAT(stays(), IsEmpty());
}

/// What was kept stays known when the undo is interrupted after it.
TEST_F(UndoOfLinks, RemembersOverARestartWhatItKept) {
    std::filesystem::remove(scratch_.at("/etc/last"));
    put(scratch_.at("/etc/last"), "somebody's");
    auto record = engine.accept_undo("u0", "machine-1", kAgentCaller);
    ASSERT_THAT(record, IsOk());
    std::stop_source leave;
    lose_content();
    on_wait_ = [&] { leave.request_stop(); };
    EXPECT_THAT(carried_out(*record, {.leave = leave.get_token()}), IsState(PlanState::running));
    find_content();
    const auto left = engine.interrupted();
    ASSERT_THAT(left, IsOk());
    const std::optional<PlanRecord>& plan = *left;
    if (!plan) FAIL() << "no interrupted plan";
    EXPECT_THAT(carried_out(*plan), IsState(PlanState::undone));
    EXPECT_THAT(stays(), ElementsAre(Field(&Remaining::object, "link /etc/last")));
}

// --- an undo after another one

/// An undo that moved a file of somebody aside, and that failed on another object.
class UndoAfterAnother : public UndoOfLinks {
protected:
    UndoAfterAnother() {
        std::filesystem::remove(scratch_.at("/etc/last"));
        put(scratch_.at("/etc/last"), "somebody's");
        lose_content();
        EXPECT_THAT(undone(), IsState(PlanState::failed));
        find_content();
    }
    static auto is_of_last() {
        return AllOf(Field(&Remaining::object, "link /etc/last"),
                     Field(&Remaining::why, HasSubstr("moved to")),
                     Field(&Remaining::blocks_join, false));
    }
};

TEST_F(UndoAfterAnother, SaysWhatBothKept) {
    EXPECT_THAT(undone(), IsState(PlanState::undone));
    EXPECT_THAT(stays(), ElementsAre(is_of_last()));
    EXPECT_THAT(undone(), IsState(PlanState::undone));
    EXPECT_THAT(stays(), ElementsAre(is_of_last())) << "also where nothing is left to undo";
}

TEST_F(UndoAfterAnother, SaysWhatBothKeptWhereTheExecutorTriesAgain) {
    auto again = engine.undo_again("again", "machine-1", kRootCaller);
    ASSERT_THAT(again, IsOk());
    EXPECT_THAT(carried_out(*again), IsState(PlanState::undone));
    EXPECT_THAT(model::stays_from_json(engine.plan("again")->stays)->named,
                ElementsAre(is_of_last()));
}

TEST_F(UndoAfterAnother, NamesOnceWhatFailsAgain) {
    lose_content();
    EXPECT_THAT(undone(), IsState(PlanState::failed));
    EXPECT_THAT(stays(), ElementsAre(Field(&Remaining::object, "content of /etc/d"), is_of_last(),
                                     Field(&Remaining::object, "link /etc/d/theirs")));
}

TEST_F(UndoAfterAnother, SaysNothingOfAnEarlierLifeOfItsOwner) {
    EXPECT_THAT(undone(), IsState(PlanState::undone));
    EXPECT_THAT(applied({"again", "machine-1", {model::Symlink{"/etc/first", "x"}}}),
                IsState(PlanState::done));
    EXPECT_THAT(undone(), IsState(PlanState::undone));
    EXPECT_THAT(stays(), IsEmpty());
}

/// An object of two owners, which the first one could not give back.
TEST_F(UndoAfterAnother, LeavesNothingForAnOwnerWhoseUndoFailed) {
    const model::Plan theirs{"p2", "machine-2", {model::Symlink{"/etc/d/theirs", "y"}}};
    EXPECT_THAT(applied(theirs), IsState(PlanState::done));
    auto record = engine.accept_undo("u-of-2", "machine-2", kAgentCaller);
    ASSERT_THAT(record, IsOk());
    EXPECT_THAT(carried_out(*record), IsState(PlanState::undone));
    EXPECT_EQ(content_of(scratch_.at("/etc/d/theirs")), kContent);
    EXPECT_THAT(undone(), IsState(PlanState::undone));
    EXPECT_EQ(content_of(scratch_.at("/etc/d/theirs")), kContent);
    EXPECT_THAT(stays(), ElementsAre(is_of_last()));
    EXPECT_THAT(*engine.objects(), IsEmpty());
}

/// A step that found nothing to remove must not remove what somebody makes later.
TEST_F(UndoOfLinks, LeavesWhatSomebodyMadeWhereAPathWasAbsent) {
    engine.allow({.directories = {{"absent-path", {"/etc"}}}});
    EXPECT_THAT(applied({"absent", "machine-1", {model::AbsentPath{"/etc/later"}}}),
                IsState(PlanState::done));
    put(scratch_.at("/etc/later"), "somebody's");
    EXPECT_THAT(undone(), IsState(PlanState::undone));
    EXPECT_EQ(content_of(scratch_.at("/etc/later")), "somebody's");
}

/// As another version wrote it: every plan with an API server fails while it is there.
TEST_F(EngineHost, AStepThatCannotBeReadHarmsTheNextJoin) {
    {
        auto journal = Journal::open(state(), {});
        ASSERT_THAT(journal, IsOk());
        ASSERT_THAT(journal->begin({.id = "p", .owner = "machine-1"}, 1), IsOk());
        const PreparedStep step{.type = "symlink", .target = "/etc/x", .step = "?"};
        ASSERT_THAT(journal->record("p", {.prepared = {step}}), IsOk());
        ASSERT_THAT(journal->end("p", {PlanState::done, ""}), IsOk());
    }
    auto record = engine.accept_undo("u", "machine-1", kAgentCaller);
    ASSERT_THAT(record, IsOk());
    EXPECT_THAT(carried_out(*record), IsState(PlanState::failed));
    EXPECT_THAT(model::stays_from_json(engine.plan("u")->stays)->named,
                ElementsAre(AllOf(Field(&Remaining::object, "symlink /etc/x"),
                                  Field(&Remaining::blocks_join, true))));
}

}  // namespace
}  // namespace kubexm::executor
