#include "daemon/executor/engine/engine.hpp"

#include <gtest/gtest.h>

#include "daemon/base/digest.hpp"
#include "engine_host.hpp"

namespace kubexm::executor {
namespace {

class EngineTest : public EngineHost {};

/// Within the limits of the wire: 24,000 values in 150 steps.
model::Plan too_large() {
    std::vector<model::Step> steps;
    steps.reserve(150);
    for (int i = 0; i < 150; ++i) {
        steps.emplace_back(model::ManagedBlock{"/etc/hosts", std::to_string(i),
                                               std::vector<std::string>(150, "x")});
    }
    return {"large", "machine-1", steps};
}

TEST_F(EngineTest, RefusesAPlanThatTheJournalCouldNotReadBack) {
    EXPECT_THAT(engine.accept(too_large(), {}, kAgentCaller), IsError(Code::invalid, "values"));
    EXPECT_THAT(applied(link_plan("next")), IsState(PlanState::done));
}

TEST_F(EngineTest, FailsAnUnreadablePlanOfTheJournal) {
    {
        auto journal = Journal::open(state(), {});
        ASSERT_THAT(journal, IsOk());
        ASSERT_THAT(journal->begin({.id = "odd", .owner = "o", .document = "{}"}, 1), IsOk());
    }
    const auto found = engine.interrupted();
    ASSERT_THAT(found, IsOk());
    const std::optional<PlanRecord>& odd = *found;
    if (!odd) FAIL() << "no interrupted plan";
    EXPECT_THAT(carried_out(*odd), IsState(PlanState::failed));
    EXPECT_THAT(applied(link_plan("next")), IsState(PlanState::done));
}

/// The ledger cannot hold a NUL, so undo could not read this value.
TEST_F(EngineTest, ChangesNothingWhoseStateTheLedgerCannotRecord) {
    const std::string before("1\0", 2);
    const auto file = scratch_.at("/proc/sys/net/core/somaxconn");
    std::filesystem::create_directories(file.parent_path());
    put(file, before);
    engine.allow({.sysctls = {"net.core.somaxconn"}});
    EXPECT_THAT(applied({"p", "machine-1", {model::Sysctl{"net.core.somaxconn", "0"}}}),
                IsState(PlanState::failed));
    EXPECT_THAT(engine.plan("p")->last_error, testing::HasSubstr("cannot be recorded"));
    EXPECT_EQ(content_of(file), before);
}

TEST_F(EngineTest, RefusesAReplacementBeforeTheRunningPlanIsStopped) {
    ASSERT_THAT(applied(link_plan("p1")), IsState(PlanState::done));
    EXPECT_THAT(engine.acceptable(link_plan("p2"), {}, kAgentCaller), IsOk());
    EXPECT_THAT(engine.acceptable(link_plan("p1"), {}, kAgentCaller),
                IsError(Code::conflict, "accepted before"));
    const std::vector<Content> contents = [] {
        std::vector<Content> some;
        some.push_back({"digest", Fd{}});
        return some;
    }();
    EXPECT_THAT(engine.acceptable(link_plan("p2"), contents, kAgentCaller),
                IsError(Code::invalid, "no step of the plan needs"));
    EXPECT_THAT(engine.undo_acceptable("u1", "machine-1", kAgentCaller), IsOk());
    EXPECT_THAT(engine.undo_acceptable("p1", "machine-1", kAgentCaller),
                IsError(Code::conflict, "accepted before"));
    EXPECT_THAT(engine.undo_acceptable("u1", "", kAgentCaller), IsError(Code::invalid, "owner"));
}

TEST_F(EngineTest, AuditsTheRefusalOfAPreview) {
    std::filesystem::create_directory_symlink(scratch_.outside(), scratch_.at("/etc/away"));
    {
        Engine earlier{state(), root_, systemd, engine.allowed()};
        EXPECT_THAT(earlier.preview_step(model::Symlink{"/etc/away/link", "target"}, kAgentCaller),
                    IsError(Code::denied, "/etc/away"));
    }
    auto journal = Journal::open(state(), {});
    ASSERT_THAT(journal, IsOk());
    const auto newest = journal->audit_trail(1);
    ASSERT_THAT(newest, IsOk());
    EXPECT_EQ(newest->at(0).uid, kAgentCaller.uid);
    EXPECT_EQ(newest->at(0).event, "refused");
}

/// A host with a ledger entry, and an open journal that has read nothing yet.
class DamagedAtWork : public EngineTest {
protected:
    DamagedAtWork() {
        {
            Engine earlier{state(), root_, systemd, engine.allowed()};
            auto record = earlier.accept(link_plan("p1", "/etc/first"), {}, kAgentCaller);
            EXPECT_THAT(record, IsOk());
            EXPECT_THAT(earlier.carry_out(*record, {}, {[](const Report&) {}, [] {}}), IsOk());
        }
        engine.write_events();
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

TEST_F(DamagedAtWork, TheJournalIsQuarantined) {
    damage_ledger();
    EXPECT_THAT(engine.objects(), IsError(Code::corrupt, ""));
    EXPECT_THAT(engine.accept(link_plan("p2"), {}, kAgentCaller),
                IsError(Code::corrupt, "kubexmctl journal"));
    EXPECT_EQ(engine.journal()->file, "journal.db.corrupt-1");
}

TEST_F(DamagedAtWork, ReadingTheJournalFindsTheDamage) {
    damage_ledger();
    EXPECT_EQ(engine.journal()->file, "journal.db.corrupt-1");
}

TEST_F(DamagedAtWork, TheJournalStaysOpenUnderAPlan) {
    // Of root: the quota of others reads the ledger, which then is in SQLite's memory.
    model::Plan plan = link_plan("p2");
    plan.owner = "root";
    auto record = engine.accept(plan, {}, kRootCaller);
    ASSERT_THAT(record, IsOk());
    const auto look = [&] {
        damage_ledger();
        EXPECT_THAT(engine.objects(), IsError(Code::corrupt, ""));
        EXPECT_THAT(engine.journal(), IsError(Code::corrupt, "when the running plan has ended"));
    };
    EXPECT_FALSE(engine.carry_out(*record, {}, {[](const Report&) {}, look}));
    EXPECT_EQ(engine.journal()->file, "journal.db.corrupt-1");
}

/// A host with a file of another owner whose content is in the vault.
class VaultWithoutJournal : public EngineTest {
protected:
    VaultWithoutJournal() {
        put(scratch_.at("/etc/link"), "theirs");
        {
            Engine earlier{state(), root_, systemd, engine.allowed()};
            auto record = earlier.accept(link_plan("p1"), {}, kAgentCaller);
            EXPECT_THAT(record, IsOk());
            EXPECT_THAT(earlier.carry_out(*record, {}, {[](const Report&) {}, [] {}}), IsOk());
        }
        EXPECT_TRUE(kept_in("content"));
    }
    bool kept_in(const std::string& directory) const {
        return std::filesystem::exists(state() + "/" + directory + "/" + sha256("theirs"));
    }
    void begin_anew(RecordStore::Decision decision) {
        EXPECT_THAT(engine.interrupted(), IsError(Code::corrupt, "journal"));
        EXPECT_THAT(engine.decide(decision, kRootCaller), IsOk());
        EXPECT_THAT(engine.interrupted(), IsOk());
    }
};

TEST_F(VaultWithoutJournal, IsDamageAndNotANewHost) {
    std::filesystem::remove(state() + "/journal.db");
    EXPECT_THAT(engine.interrupted(), IsError(Code::corrupt, "journal.db is missing"));
    EXPECT_THAT(engine.journal(), IsError(Code::corrupt, "journal.db is missing"));
    EXPECT_FALSE(engine.decide(RecordStore::Decision::restore, kRootCaller));
    EXPECT_TRUE(kept_in("content"));
}

TEST_F(VaultWithoutJournal, IsPreservedByDiscard) {
    std::filesystem::remove(state() + "/journal.db");
    begin_anew(RecordStore::Decision::discard);
    EXPECT_TRUE(kept_in("content.corrupt-0"));
    EXPECT_FALSE(kept_in("content"));
}

TEST_F(VaultWithoutJournal, IsPreservedWhenADamagedJournalIsDiscarded) {
    put(state() + "/journal.db", "damaged");
    begin_anew(RecordStore::Decision::discard);
    EXPECT_TRUE(kept_in("content.corrupt-1"));
}

TEST_F(VaultWithoutJournal, IsPreservedWhenTheJournalIsRestored) {
    std::filesystem::resize_file(state() + "/journal.db", 4096);
    begin_anew(RecordStore::Decision::restore);
    EXPECT_TRUE(kept_in("content.corrupt-1"));
}

}  // namespace
}  // namespace kubexm::executor
