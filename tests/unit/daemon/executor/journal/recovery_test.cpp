#include "daemon/executor/journal/recovery.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "daemon/executor/journal/journal.hpp"
#include "daemon/executor/journal/quarantine.hpp"
#include "examples.hpp"
#include "fault_vfs.hpp"
#include "scratch.hpp"
#include "tests/unit/crash_child.hpp"

namespace kubexm::executor {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::size_t kEntries = 200;

/// A ledger of several pages, and a dropped, a finished and a running plan.
void fill(const Scratch& scratch) {
    auto journal = Journal::open(scratch.path(), {.finished_plans = 1});
    ASSERT_TRUE(journal) << journal.error().what;
    ASSERT_OK(journal->begin(plan_named("dropped"), 1));
    ASSERT_OK(journal->end("dropped", {PlanState::done, ""}));
    ASSERT_OK(journal->begin(plan_named("finished"), 1));
    ASSERT_OK(journal->end("finished", {PlanState::done, ""}));
    ASSERT_OK(journal->begin(plan_named("running"), kEntries));
    for (std::uint32_t i = 0; i < kEntries; ++i) {
        ASSERT_OK(prepare(*journal, "running", step_for(fmt::format("object-{}", i), i)));
    }
}

std::vector<std::string> targets(const std::vector<LedgerEntry>& ledger) {
    std::vector<std::string> names;
    for (const LedgerEntry& entry : ledger) {
        EXPECT_EQ(entry.pre_image, "before " + entry.target);
        EXPECT_EQ(entry.step, "step of " + entry.target);
        names.push_back(entry.target);
    }
    return names;
}

std::vector<std::string> all_targets() {
    std::vector<std::string> names;
    for (std::size_t i = kEntries; i > 0; --i) names.push_back(fmt::format("object-{}", i - 1));
    return names;
}

class RecoveryTest : public testing::Test {
protected:
    void SetUp() override { fill(scratch_); }

    /// Damages the first occurrence of a value; open() then fails.
    void damage(const std::string& value) {
        std::string bytes = bytes_of(scratch_.file("journal.db"));
        const std::size_t offset = bytes.find(value);
        ASSERT_NE(offset, std::string::npos);
        bytes[offset] = '?';
        write_bytes(scratch_.file("journal.db"), bytes);
        const auto journal = Journal::open(scratch_.path(), {});
        ASSERT_FALSE(journal);
        ASSERT_EQ(journal.error().code, Code::corrupt);
    }

    std::optional<std::string> waiting() const {
        return journal::waiting_file(*StateDirectory::open(scratch_.path())).value();
    }

    FaultVfs vfs_;
    const Scratch scratch_;
};

TEST_F(RecoveryTest, AQuarantinedJournalIsNotOpenedBeforeADecision) {
    damage("before object-77");
    EXPECT_EQ(waiting(), std::nullopt);
    const std::string damaged = bytes_of(scratch_.file("journal.db"));
    ASSERT_EQ(*quarantine(scratch_.path()), "journal.db.corrupt-1");
    EXPECT_EQ(bytes_of(scratch_.file("journal.db.corrupt-1")), damaged);
    EXPECT_EQ(waiting(), "journal.db.corrupt-1");
    for (int tries = 0; tries < 2; ++tries) {
        const auto journal = Journal::open(scratch_.path(), {});
        ASSERT_FALSE(journal);
        EXPECT_EQ(journal.error().code, Code::corrupt);
        EXPECT_THAT(journal.error().what, HasSubstr("journal.db.corrupt-1"));
        EXPECT_THAT(journal.error().what, HasSubstr("kubexmctl journal"));
    }
}

TEST_F(RecoveryTest, EveryDamagedJournalIsKept) {
    for (const char* name : {"journal.db.corrupt-1", "journal.db.corrupt-2"}) {
        EXPECT_EQ(*quarantine(scratch_.path()), name);
        ASSERT_OK(discard(scratch_.path(), 0, 1));
    }
    EXPECT_TRUE(scratch_.has("journal.db.corrupt-1"));
    EXPECT_THAT(recover(scratch_.path(), "journal.db.corrupt-1")->ledger, SizeIs(kEntries));
    EXPECT_THAT(recover(scratch_.path(), "")->ledger, IsEmpty());
    EXPECT_EQ(recover(scratch_.path(), "journal.db").error().code, Code::not_found);
}

TEST_F(RecoveryTest, ReadsEverythingButTheDamagedRecord) {
    damage("before object-77");
    ASSERT_TRUE(quarantine(scratch_.path()));
    const std::string damaged = bytes_of(scratch_.file("journal.db.corrupt-1"));
    const auto found = recover(scratch_.path(), "");
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(found->file, "journal.db.corrupt-1");
    auto expected = all_targets();
    std::erase(expected, "object-77");
    EXPECT_EQ(targets(found->ledger), expected);
    EXPECT_THAT(found->plans,
                ElementsAre(Field(&PlanRecord::id, "running"), Field(&PlanRecord::id, "finished")));
    EXPECT_THAT(found->damage, ElementsAre(HasSubstr("record 78 of ledger is damaged")));
    EXPECT_EQ(bytes_of(scratch_.file("journal.db.corrupt-1")), damaged);
    EXPECT_FALSE(scratch_.has("journal.db.recover"));
}

/// Nobody could undo an object without an owner.
TEST_F(RecoveryTest, AnObjectWhoseOwnersAreLostGetsAnOwner) {
    damage("ownerstep of object-77running");
    ASSERT_TRUE(quarantine(scratch_.path()));
    const auto found = restore(scratch_.path(), 0, 1);
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_THAT(found->damage, testing::Contains(HasSubstr("kubexmctl undo recovered")));
    auto journal = Journal::open(scratch_.path(), {});
    ASSERT_TRUE(journal) << journal.error().what;
    EXPECT_THAT(*journal->ledger("recovered"),
                ElementsAre(Field(&LedgerEntry::target, "object-77")));
    EXPECT_THAT(*journal->ledger("owner"), SizeIs(kEntries - 1));
}

TEST_F(RecoveryTest, ReportsNoDamageInAnIntactFile) {
    ASSERT_TRUE(quarantine(scratch_.path()));
    const auto found = recover(scratch_.path(), "");
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(targets(found->ledger), all_targets());
    EXPECT_THAT(found->damage, IsEmpty());
}

TEST_F(RecoveryTest, ALostPageLosesOnlyItsOwnRecords) {
    ASSERT_TRUE(quarantine(scratch_.path()));
    const std::string good = bytes_of(scratch_.file("journal.db.corrupt-1"));
    const auto expected = all_targets();
    int pages_with_entries = 0;
    int roots = 0;
    for (std::size_t page = 0; page < good.size(); page += kPage) {
        SCOPED_TRACE(fmt::format("page {}", page / kPage + 1));
        std::string bytes = good;
        write_bytes(scratch_.file("journal.db.corrupt-1"),
                    bytes.replace(page, kPage, kPage, '\xff'));
        const auto found = recover(scratch_.path(), "");
        ASSERT_TRUE(found) << found.error().what;
        EXPECT_THAT(found->damage, Not(IsEmpty()));
        const auto left = targets(found->ledger);
        EXPECT_THAT(expected, testing::IsSupersetOf(left));
        if (left.size() < kEntries) ++pages_with_entries;
        if (left.empty()) ++roots;
        EXPECT_TRUE(left.empty() || left.size() + 30 >= kEntries) << left.size();
    }
    EXPECT_GE(pages_with_entries, 7);
    EXPECT_EQ(roots, 1);
}

/// The offset of the page that contains a value.
std::size_t page_of(const std::string& bytes, const std::string& value) {
    return bytes.find(value) / kPage * kPage;
}

TEST_F(RecoveryTest, RecordsBetweenTwoLostPagesAreFound) {
    ASSERT_TRUE(quarantine(scratch_.path()));
    std::string bytes = bytes_of(scratch_.file("journal.db.corrupt-1"));
    const std::size_t first = page_of(bytes, "before object-30");
    const std::size_t second = page_of(bytes, "before object-150");
    const std::size_t between = page_of(bytes, "before object-90");
    ASSERT_NE(between, first);
    ASSERT_NE(between, second);
    for (const std::size_t page : {first, second}) bytes.replace(page, kPage, kPage, '\xff');
    write_bytes(scratch_.file("journal.db.corrupt-1"), bytes);
    const auto found = recover(scratch_.path(), "");
    ASSERT_TRUE(found) << found.error().what;
    const auto left = targets(found->ledger);
    EXPECT_THAT(left, testing::IsSupersetOf({"object-0", "object-90", "object-199"}));
    EXPECT_THAT(left, Not(testing::Contains("object-30")));
    EXPECT_GE(left.size() + 60, kEntries);
}

TEST_F(RecoveryTest, APageWithOlderContentDoesNotDuplicateAnObject) {
    const std::string old = bytes_of(scratch_.file("journal.db"));
    {
        auto journal = Journal::open(scratch_.path(), {});
        ASSERT_TRUE(journal);
        ASSERT_OK(undo(*journal, "running", 31));
        PreparedStep again = step_for("object-30", 30);
        again.pre_image = "later";
        ASSERT_OK(prepare(*journal, "running", again));
    }
    std::string bytes = bytes_of(scratch_.file("journal.db"));
    const std::size_t page = page_of(old, "before object-30");
    write_bytes(scratch_.file("journal.db"), bytes.replace(page, kPage, old, page, kPage));
    ASSERT_EQ(Journal::open(scratch_.path(), {}).error().code, Code::corrupt);
    ASSERT_TRUE(quarantine(scratch_.path()));
    const auto restored = restore(scratch_.path(), 0, 1);
    ASSERT_TRUE(restored) << restored.error().what;
    // The first of the two is used: its pre-image is the older one.
    EXPECT_EQ(targets(restored->ledger), all_targets());
}

TEST_F(RecoveryTest, ReadsRecordsThatAreOnlyInTheLog) {
    commit_to_log_only(scratch_, vfs_, [](Journal& journal) {
        return journal.end("running", {PlanState::done, ""});
    });
    ASSERT_GT(std::filesystem::file_size(scratch_.file("journal.db-wal")), kPage);
    ASSERT_TRUE(quarantine(scratch_.path()));
    EXPECT_FALSE(scratch_.has("journal.db-wal"));
    const auto found = recover(scratch_.path(), "");
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(found->plans.at(0).state, PlanState::done);
    EXPECT_TRUE(scratch_.has("journal.db.corrupt-1-wal"));
}

// --- decisions

TEST_F(RecoveryTest, RestoreUsesTheReadableRecords) {
    damage("before object-77");
    ASSERT_TRUE(quarantine(scratch_.path()));
    const std::string damaged = bytes_of(scratch_.file("journal.db.corrupt-1"));
    const auto restored = restore(scratch_.path(), 0, 4711);
    ASSERT_TRUE(restored) << restored.error().what;
    EXPECT_THAT(restored->ledger, SizeIs(kEntries - 1));
    EXPECT_EQ(bytes_of(scratch_.file("journal.db.corrupt-1")), damaged);
    EXPECT_EQ(waiting(), std::nullopt);

    auto journal = Journal::open(scratch_.path(), {});
    ASSERT_TRUE(journal) << journal.error().what;
    EXPECT_EQ(targets(*journal->ledger("")), targets(restored->ledger));
    const auto interrupted = journal->plan("running");
    ASSERT_TRUE(interrupted);
    EXPECT_EQ(interrupted->state, PlanState::failed);
    EXPECT_THAT(interrupted->last_error, HasSubstr("the journal was damaged"));
    EXPECT_THAT(interrupted->steps, SizeIs(kEntries));
    for (const char* id : {"running", "finished", "dropped"}) {
        EXPECT_EQ(journal->begin(plan_named(id), 1).error().code, Code::conflict) << id;
    }
    const auto trail = journal->audit_trail(10);
    ASSERT_THAT(*trail, SizeIs(1));
    EXPECT_EQ(trail->front().event, "journal restored");
    EXPECT_EQ(trail->front().pid, 4711);
    EXPECT_THAT(trail->front().detail, HasSubstr("journal.db.corrupt-1: 199 ledger entries"));
}

TEST_F(RecoveryTest, DiscardStartsEmptyAndKeepsTheFile) {
    damage("before object-77");
    ASSERT_TRUE(quarantine(scratch_.path()));
    ASSERT_OK(discard(scratch_.path(), 1000, 4711));
    EXPECT_TRUE(scratch_.has("journal.db.corrupt-1"));
    auto journal = Journal::open(scratch_.path(), {});
    ASSERT_TRUE(journal) << journal.error().what;
    EXPECT_THAT(*journal->ledger(""), IsEmpty());
    EXPECT_THAT(*journal->history(10), IsEmpty());
    EXPECT_THAT(*journal->audit_trail(10), ElementsAre(Field(&AuditRecord::uid, 1000U)));
}

TEST_F(RecoveryTest, AnIntactJournalNeedsNoDecision) {
    EXPECT_EQ(restore(scratch_.path(), 0, 1).error().code, Code::not_found);
    EXPECT_EQ(discard(scratch_.path(), 0, 1).error().code, Code::not_found);
    EXPECT_EQ(recover(scratch_.path(), "").error().code, Code::not_found);
    const Scratch empty;
    EXPECT_EQ(quarantine(empty.path()).error().code, Code::not_found);
}

TEST_F(RecoveryTest, AJournalInUseIsNotQuarantined) {
    auto journal = Journal::open(scratch_.path(), {});
    ASSERT_TRUE(journal);
    EXPECT_EQ(quarantine(scratch_.path()).error().code, Code::conflict);
    EXPECT_EQ(restore(scratch_.path(), 0, 1).error().code, Code::conflict);
    EXPECT_TRUE(journal->verify());
}

TEST_F(RecoveryTest, ARestoreOnAFullDiskCanBeRetried) {
    ASSERT_TRUE(quarantine(scratch_.path()));
    const Scratch before;
    before.become(scratch_);
    int refused = 0;
    for (int at = 1;; ++at) {
        SCOPED_TRACE("operation " + std::to_string(at));
        scratch_.become(before);
        vfs_.arm({.fault = FaultVfs::Fault::disk_full, .at = at});
        auto restored = restore(scratch_.path(), 0, 1);
        const bool hit = vfs_.was_hit();
        vfs_.disarm();
        if (!restored) {
            EXPECT_EQ(restored.error().code, Code::exhausted) << restored.error().what;
            EXPECT_EQ(waiting(), "journal.db.corrupt-1");
            ++refused;
            restored = restore(scratch_.path(), 0, 1);
        }
        ASSERT_TRUE(restored) << restored.error().what;
        EXPECT_EQ(targets(restored->ledger), all_targets());
        if (!hit) break;
    }
    EXPECT_GE(refused, 10);
}

// --- crashes

TEST_F(RecoveryTest, ALogStaysWithItsJournal) {
    commit_to_log_only(scratch_, vfs_, [](Journal& journal) {
        return journal.end("running", {PlanState::done, ""});
    });
    const Scratch before;
    before.become(scratch_);
    for (const char* point : {"journal.quarantine.before", "journal.quarantine.after"}) {
        SCOPED_TRACE(point);
        scratch_.become(before);
        ASSERT_TRUE(crash::dies_at({point}, [&] { std::ignore = quarantine(scratch_.path()); }));
        ASSERT_TRUE(scratch_.has("journal.db-wal")) << "crashed too late";
        if (scratch_.has("journal.db")) ASSERT_OK(quarantine(scratch_.path()));
        ASSERT_OK(discard(scratch_.path(), 0, 1));
        auto journal = Journal::open(scratch_.path(), {});
        ASSERT_TRUE(journal) << journal.error().what;
        EXPECT_THAT(*journal->history(10), IsEmpty());
        journal = fail(Code::internal, "closed");
        const auto found = recover(scratch_.path(), "");
        ASSERT_TRUE(found) << found.error().what;
        EXPECT_EQ(found->plans.at(0).state, PlanState::done);
    }
}

TEST_F(RecoveryTest, AnInterruptedQuarantineOrRestoreCanBeRepeated) {
    Scratch before;
    before.become(scratch_);
    const auto decide = [&] {
        std::ignore = quarantine(scratch_.path());
        std::ignore = restore(scratch_.path(), 0, 1);
    };
    const auto points = crash::crash_points_of(decide);
    ASSERT_THAT(points, testing::IsSupersetOf({crash::CrashPoint{"journal.quarantine.before"},
                                               crash::CrashPoint{"journal.quarantine.after"},
                                               crash::CrashPoint{"journal.commit.before"},
                                               crash::CrashPoint{"journal.create.before"},
                                               crash::CrashPoint{"journal.create.after"}}));
    for (const crash::CrashPoint& point : points) {
        SCOPED_TRACE(testing::PrintToString(point));
        scratch_.become(before);
        ASSERT_TRUE(crash::dies_at(point, decide));
        if (!waiting()) std::ignore = quarantine(scratch_.path());
        const auto restored = restore(scratch_.path(), 0, 1);
        ASSERT_TRUE(restored) << restored.error().what;
        EXPECT_EQ(targets(restored->ledger), all_targets());
        auto journal = Journal::open(scratch_.path(), {});
        ASSERT_TRUE(journal) << journal.error().what;
        EXPECT_EQ(targets(*journal->ledger("")), all_targets());
    }
}

}  // namespace
}  // namespace kubexm::executor
