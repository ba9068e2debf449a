#include "daemon/hands/executor/executor.hpp"

#include <gtest/gtest.h>

#include "daemon/base/digest.hpp"
#include "executor_host.hpp"

namespace kubexm::hands {
namespace {

class ExecutorTest : public ExecutorHost {};

/// The wire would take it: 24,000 values in 150 steps.
model::Plan too_large() {
    std::vector<model::Step> steps;
    steps.reserve(150);
    for (int i = 0; i < 150; ++i) {
        steps.emplace_back(model::ManagedBlock{"/etc/hosts", std::to_string(i),
                                               std::vector<std::string>(150, "x")});
    }
    return {"large", "owner", steps};
}

TEST_F(ExecutorTest, RefusesAPlanThatItCouldNotReadBack) {
    EXPECT_THAT(executor.accept(too_large(), {}, kFrontCaller), IsError(Code::invalid, "values"));
    EXPECT_THAT(applied(link_plan("next")), IsState(PlanState::done));
}

TEST_F(ExecutorTest, FailsAPlanOfTheJournalThatNobodyCanRead) {
    {
        auto journal = Journal::open(state(), {});
        ASSERT_THAT(journal, IsOk());
        ASSERT_THAT(journal->begin({.id = "odd", .owner = "o", .document = "{}"}, 1), IsOk());
    }
    const auto found = executor.interrupted();
    ASSERT_THAT(found, IsOk());
    const std::optional<PlanRecord>& odd = *found;
    if (!odd) FAIL() << "nothing is interrupted";
    EXPECT_THAT(carried_out(*odd), IsState(PlanState::failed));
    EXPECT_THAT(applied(link_plan("next")), IsState(PlanState::done));
}

/// The ledger holds no NUL, so undo could not read this value.
TEST_F(ExecutorTest, ChangesNothingWhoseStateItCouldNotRemember) {
    const std::string before("1\0", 2);
    const auto file = scratch_.at("/proc/sys/net/core/somaxconn");
    std::filesystem::create_directories(file.parent_path());
    put(file, before);
    executor.allow({.sysctls = {"net.core.somaxconn"}});
    EXPECT_THAT(applied({"p", "owner", {model::Sysctl{"net.core.somaxconn", "0"}}}),
                IsState(PlanState::failed));
    EXPECT_THAT(executor.plan("p")->last_error, testing::HasSubstr("cannot be remembered"));
    EXPECT_EQ(content_of(file), before);
}

TEST_F(ExecutorTest, TellsWhatItWouldRefuseBeforeAnotherPlanStopsForIt) {
    ASSERT_THAT(applied(link_plan("p1")), IsState(PlanState::done));
    EXPECT_THAT(executor.acceptable(link_plan("p2"), {}, kFrontCaller), IsOk());
    EXPECT_THAT(executor.acceptable(link_plan("p1"), {}, kFrontCaller),
                IsError(Code::conflict, "taken in before"));
    const std::vector<Content> contents = [] {
        std::vector<Content> some;
        some.push_back({"digest", Fd{}});
        return some;
    }();
    EXPECT_THAT(executor.acceptable(link_plan("p2"), contents, kFrontCaller),
                IsError(Code::invalid, "no step of the plan needs"));
    EXPECT_THAT(executor.undo_acceptable("u1", "owner", kFrontCaller), IsOk());
    EXPECT_THAT(executor.undo_acceptable("p1", "owner", kFrontCaller),
                IsError(Code::conflict, "taken in before"));
    EXPECT_THAT(executor.undo_acceptable("u1", "", kFrontCaller), IsError(Code::invalid, "owner"));
}

TEST_F(ExecutorTest, WritesDownWhatAPreviewFindsThatMayNotBe) {
    std::filesystem::create_directory_symlink(scratch_.outside(), scratch_.at("/etc/away"));
    {
        Executor earlier{state(), root_, systemd, executor.allowed()};
        EXPECT_THAT(earlier.foresee(model::Symlink{"/etc/away/link", "target"}, kFrontCaller),
                    IsError(Code::denied, "/etc/away"));
    }
    auto journal = Journal::open(state(), {});
    ASSERT_THAT(journal, IsOk());
    const auto newest = journal->audit_trail(1);
    ASSERT_THAT(newest, IsOk());
    EXPECT_EQ(newest->at(0).uid, kFrontCaller.uid);
    EXPECT_EQ(newest->at(0).event, "refused");
}

/// A host with something in the ledger, and a journal that is open but has read nothing yet.
class DamagedAtWork : public ExecutorTest {
protected:
    DamagedAtWork() {
        {
            Executor earlier{state(), root_, systemd, executor.allowed()};
            auto record = earlier.accept(link_plan("p1", "/etc/first"), {}, kFrontCaller);
            EXPECT_THAT(record, IsOk());
            EXPECT_THAT(earlier.carry_out(*record, {}, {[](const Report&) {}, [] {}}), IsOk());
        }
        executor.write_refusals();
    }
    /// Changes a pre-image in the file.
    void damage_ledger() const {
        constexpr std::string_view kBefore = "absent";
        const std::string file = state() + "/journal.db";
        const auto at = content_of(file).find(kBefore);
        ASSERT_NE(at, std::string::npos);
        std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
        stream.seekp(static_cast<std::streamoff>(at));
        stream << std::string(kBefore.size(), '?');
    }
};

TEST_F(DamagedAtWork, TheJournalIsSetAside) {
    damage_ledger();
    EXPECT_THAT(executor.owners(), IsError(Code::corrupt, ""));
    EXPECT_THAT(executor.accept(link_plan("p2"), {}, kFrontCaller),
                IsError(Code::corrupt, "kubexmctl journal"));
    EXPECT_EQ(executor.journal()->file, "journal.db.corrupt-1");
}

TEST_F(DamagedAtWork, ALookAtTheJournalFindsItToo) {
    damage_ledger();
    EXPECT_EQ(executor.journal()->file, "journal.db.corrupt-1");
}

TEST_F(DamagedAtWork, TheJournalStaysOpenUnderAPlan) {
    auto record = executor.accept(link_plan("p2"), {}, kFrontCaller);
    ASSERT_THAT(record, IsOk());
    const auto look = [&] {
        damage_ledger();
        EXPECT_THAT(executor.owners(), IsError(Code::corrupt, ""));
        EXPECT_THAT(executor.journal(), IsError(Code::corrupt, "when the plan has ended"));
    };
    EXPECT_FALSE(executor.carry_out(*record, {}, {[](const Report&) {}, look}));
    EXPECT_EQ(executor.journal()->file, "journal.db.corrupt-1");
}

/// A host with a file of somebody else's whose content is in the vault.
class VaultWithoutJournal : public ExecutorTest {
protected:
    VaultWithoutJournal() {
        put(scratch_.at("/etc/link"), "theirs");
        {
            Executor earlier{state(), root_, systemd, executor.allowed()};
            auto record = earlier.accept(link_plan("p1"), {}, kFrontCaller);
            EXPECT_THAT(record, IsOk());
            EXPECT_THAT(earlier.carry_out(*record, {}, {[](const Report&) {}, [] {}}), IsOk());
        }
        EXPECT_TRUE(kept_in("content"));
    }
    bool kept_in(const std::string& directory) const {
        return std::filesystem::exists(state() + "/" + directory + "/" + sha256("theirs"));
    }
    void begin_anew(Store::Decision decision) {
        EXPECT_THAT(executor.interrupted(), IsError(Code::corrupt, "journal"));
        EXPECT_THAT(executor.decide(decision, kRootCaller), IsOk());
        EXPECT_THAT(executor.interrupted(), IsOk());
    }
};

TEST_F(VaultWithoutJournal, IsNotTakenForANewHost) {
    std::filesystem::remove(state() + "/journal.db");
    EXPECT_THAT(executor.interrupted(), IsError(Code::corrupt, "journal.db is missing"));
    EXPECT_THAT(executor.journal(), IsError(Code::corrupt, "journal.db is missing"));
    EXPECT_FALSE(executor.decide(Store::Decision::restore, kRootCaller));
    EXPECT_TRUE(kept_in("content"));
}

TEST_F(VaultWithoutJournal, IsKeptWhenItsLossIsAccepted) {
    std::filesystem::remove(state() + "/journal.db");
    begin_anew(Store::Decision::discard);
    EXPECT_TRUE(kept_in("content.corrupt-0"));
    EXPECT_FALSE(kept_in("content"));
}

TEST_F(VaultWithoutJournal, IsKeptWhenTheJournalIsDiscarded) {
    put(state() + "/journal.db", "damaged");
    begin_anew(Store::Decision::discard);
    EXPECT_TRUE(kept_in("content.corrupt-1"));
}

TEST_F(VaultWithoutJournal, IsKeptWhenTheJournalIsRestored) {
    std::filesystem::resize_file(state() + "/journal.db", 4096);
    begin_anew(Store::Decision::restore);
    EXPECT_TRUE(kept_in("content.corrupt-1"));
}

}  // namespace
}  // namespace kubexm::hands
