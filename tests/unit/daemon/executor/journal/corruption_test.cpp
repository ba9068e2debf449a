#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <random>
#include <set>

#include "daemon/executor/journal/journal.hpp"
#include "examples.hpp"
#include "fault_vfs.hpp"
#include "scratch.hpp"

namespace kubexm::executor {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

/// A journal with trees of several pages, overflow pages and free pages.
void fill(Journal& journal) {
    for (int i = 0; i < 12; ++i) {
        const std::string id = fmt::format("plan-{}", i);
        PlanRecord plan = plan_named(id);
        plan.document = std::string(i % 3 == 0 ? 9000 : 300, static_cast<char>('a' + i));
        ASSERT_OK(journal.begin(plan, 4));
        for (std::uint32_t step = 0; step < 4; ++step) {
            const std::string target = fmt::format("object-{}-{}", i, step);
            ASSERT_OK(prepare(journal, id, step_for(target, step)));
            ASSERT_OK(finish(journal, id, step, StepState::done));
        }
        ASSERT_OK(journal.end(id, {PlanState::failed, "first way"}));
        ASSERT_OK(journal.audit(0, 1, "plan failed", id));
    }
    for (const std::int64_t sequence : {3, 17, 40}) ASSERT_OK(undo(journal, "plan-11", sequence));
    ASSERT_OK(journal.begin(plan_named("last"), 1));
}

constexpr Journal::Limits kFew{
    .finished_plans = 8, .known_ids = 100, .audit_records = 10, .audit_seconds = 0};

class Corruption : public testing::Test {
protected:
    void SetUp() override {
        auto journal = Journal::open(scratch_.path(), kFew);
        ASSERT_TRUE(journal) << journal.error().what;
        fill(*journal);
        content_ = content_of(*journal);
        journal = fail(Code::internal, "closed");
        good_ = bytes_of(scratch_.file("journal.db"));
        ASSERT_GT(good_.size(), 20 * kPage);
    }

    /// Either open() finds the damage, or the content is unchanged.
    void expect_found_or_harmless(const std::string& bytes) {
        for (const char* suffix : {"-wal", "-journal"}) {
            std::filesystem::remove(scratch_.file(std::string("journal.db") + suffix));
        }
        write_bytes(scratch_.file("journal.db"), bytes);
        auto journal = Journal::open(scratch_.path(), kFew);
        if (!journal) {
            EXPECT_EQ(journal.error().code, Code::corrupt) << journal.error().what;
            EXPECT_THAT(journal.error().what, HasSubstr("journal.db"));
            ++found_;
            return;
        }
        EXPECT_EQ(content_of(*journal), content_);
        EXPECT_TRUE(journal->audit(0, 1, "event", "")) << "readable but not writable";
        ++harmless_;
    }

    void flip(std::size_t offset, unsigned mask) {
        SCOPED_TRACE(fmt::format("byte {} (page {}, {}), mask {:#x}", offset, offset / kPage + 1,
                                 offset % kPage, mask));
        std::string bytes = good_;
        bytes[offset] = static_cast<char>(static_cast<unsigned>(bytes[offset]) ^ mask);
        expect_found_or_harmless(bytes);
    }

    FaultVfs fast_;  // no fault: its syncs are fast
    const Scratch scratch_;
    std::string content_;
    std::string good_;
    int found_ = 0;
    int harmless_ = 0;
};

TEST_F(Corruption, AFlippedBitAnywhereInTheFirstPageIsFoundOrHarmless) {
    for (std::size_t offset = 0; offset < 108; ++offset) {
        for (const unsigned mask : {0x01U, 0x02U, 0x80U}) flip(offset, mask);
    }
    for (std::size_t offset = 108; offset < kPage; offset += 23) flip(offset, 0x04);
    EXPECT_GT(found_, harmless_);
}

TEST_F(Corruption, AFlippedBitInTheHeadOfAnyPageIsFoundOrHarmless) {
    for (std::size_t page = kPage; page < good_.size(); page += kPage) {
        for (const std::size_t byte : {0U, 1U, 3U, 4U, 5U, 7U, 8U, 9U, 10U, 11U, 12U, 13U}) {
            flip(page + byte, 0x01);
        }
    }
    EXPECT_GT(found_, harmless_);
}

TEST_F(Corruption, AFlippedBitAnywhereElseIsFoundOrHarmless) {
    std::mt19937 random(20260101);  // NOLINT(bugprone-random-generator-seed): the same every time
    for (int i = 0; i < 600; ++i) {
        const std::size_t offset = random() % good_.size();
        flip(offset, 1U << (random() % 8));
    }
    EXPECT_GT(found_, 100);
}

TEST_F(Corruption, AFlippedBitInAValueIsFound) {
    // Every value must be protected, also in an index.
    const std::vector<std::string> values{"object-11-2",
                                          "before object-9-1",
                                          "step of object-8-0",
                                          "plan failed",
                                          "first way",
                                          "plan-11",
                                          "hash",
                                          "plan-1",
                                          "owner",
                                          "running",
                                          "done",
                                          "jjjjjjjjjjjj",
                                          "last"};
    for (const std::string& value : values) {
        const std::size_t offset = good_.rfind(value);
        ASSERT_NE(offset, std::string::npos) << value;
        const int before = found_;
        flip(offset + value.size() / 2, 0x01);
        EXPECT_EQ(found_, before + 1) << value;
    }
}

TEST_F(Corruption, LostPagesAreFound) {
    for (std::size_t page = 0; page < good_.size(); page += kPage) {
        SCOPED_TRACE(fmt::format("page {}", page / kPage + 1));
        std::string bytes = good_;
        expect_found_or_harmless(bytes.replace(page, kPage, kPage, '\0'));
    }
    EXPECT_GT(found_, harmless_);
}

TEST_F(Corruption, ASwappedOrRepeatedPageIsFound) {
    for (std::size_t page = kPage; page + 2 * kPage < good_.size(); page += kPage) {
        SCOPED_TRACE(fmt::format("page {}", page / kPage + 1));
        const std::string next = good_.substr(page + kPage, kPage);
        std::string bytes = good_;
        bytes.replace(page, kPage, next);
        expect_found_or_harmless(bytes);
        bytes.replace(page + kPage, kPage, good_.substr(page, kPage));
        expect_found_or_harmless(bytes);
    }
    EXPECT_GT(found_, harmless_);
}

TEST_F(Corruption, AFileOfTheWrongLengthIsFound) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{99}, kPage - 1,
                                   kPage, 3 * kPage, good_.size() / 2, good_.size() - kPage}) {
        SCOPED_TRACE(fmt::format("{} bytes", size));
        expect_found_or_harmless(good_.substr(0, size));
    }
    expect_found_or_harmless(std::string(50000, 'x'));
    EXPECT_EQ(harmless_, 0);
}

TEST_F(Corruption, IsFoundInAnOpenJournal) {
    auto journal = Journal::open(scratch_.path(), kFew);
    ASSERT_TRUE(journal);
    ASSERT_OK(journal->verify());
    std::string bytes = good_;
    const std::size_t offset = bytes.rfind("before object-9-1");
    bytes[offset] = 'B';
    write_bytes(scratch_.file("journal.db"), bytes);
    const auto verified = journal->verify();
    ASSERT_FALSE(verified);
    EXPECT_EQ(verified.error().code, Code::corrupt);
    EXPECT_THAT(verified.error().what, HasSubstr("of ledger is damaged"));
    const auto entry = journal->ledger_entry("sysctl", "object-9-1");
    ASSERT_FALSE(entry);
    EXPECT_EQ(entry.error().code, Code::corrupt);
}

// --- changes with SQL

struct Forgery {
    std::string name;
    std::string sql;
    std::string because;
};

std::ostream& operator<<(std::ostream& out, const Forgery& forgery) { return out << forgery.name; }

class Forged : public testing::TestWithParam<Forgery> {};

TEST_P(Forged, JournalIsCorrupt) {
    const FaultVfs fast;
    const Scratch scratch;
    {
        auto journal = Journal::open(scratch.path(), kFew);
        ASSERT_TRUE(journal);
        fill(*journal);
    }
    sqlite3* database = nullptr;
    const std::string sql = "PRAGMA locking_mode = EXCLUSIVE;" + GetParam().sql;
    ASSERT_EQ(::sqlite3_open(scratch.file("journal.db").c_str(), &database), SQLITE_OK);
    ASSERT_EQ(::sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << ::sqlite3_errmsg(database);
    ASSERT_EQ(::sqlite3_close(database), SQLITE_OK);
    const auto journal = Journal::open(scratch.path(), kFew);
    ASSERT_FALSE(journal);
    EXPECT_EQ(journal.error().code, Code::corrupt);
    EXPECT_THAT(journal.error().what, HasSubstr(GetParam().because));
}

INSTANTIATE_TEST_SUITE_P(
    Journal, Forged,
    testing::Values(
        Forgery{"ChangedLedger", "UPDATE ledger SET pre_image = 'x' WHERE sequence = 5",
                "record 5 of ledger is damaged"},
        Forgery{"ChangedPlan", "UPDATE plans SET state = 'done' WHERE state = 'running'",
                "of plans is damaged"},
        Forgery{"ChangedStep", "UPDATE steps SET state = 'pending'", "of steps is damaged"},
        Forgery{"ChangedFailures", "UPDATE failures SET count = 0", "of failures is damaged"},
        Forgery{"LostSteps", "DELETE FROM steps WHERE plan = 10 AND number = 3",
                "plan plan-9 lost steps"},
        Forgery{"ForeignStep", "PRAGMA foreign_keys = OFF; DELETE FROM plans WHERE id = 'plan-9'",
                "records of a missing plan"},
        Forgery{"ChangedAudit", "UPDATE audit SET detail = 'nothing' WHERE sequence = 8",
                "the audit chain breaks at record 8"},
        Forgery{"LostOldAudit", "DELETE FROM audit WHERE sequence <= 4",
                "the audit chain breaks at record 5: expected record 3"},
        Forgery{"LostMiddleAudit", "DELETE FROM audit WHERE sequence = 7",
                "the audit chain breaks at record 8: expected record 7"},
        Forgery{"LostNewAudit", "DELETE FROM audit WHERE sequence > 10",
                "the audit ends at record 10: expected record 12"},
        Forgery{"ChangedEnds", "UPDATE audit_ends SET last = 10", "of audit_ends is damaged"},
        Forgery{"LostEnds", "DELETE FROM audit_ends", "audit_ends is missing"},
        Forgery{"LostTable", "DROP TABLE seen", "the tables do not match schema version 1"},
        Forgery{"MoreTables", "CREATE TABLE more(x)", "the tables do not match schema"},
        Forgery{"Trigger", "CREATE TRIGGER t AFTER INSERT ON audit BEGIN DELETE FROM ledger; END",
                "the tables do not match schema"},
        Forgery{"ChangedVersion", "PRAGMA user_version = 7", "schema version 7"},
        Forgery{"NoVersion", "PRAGMA user_version = 0", "schema version 0"}),
    [](const auto& test) { return test.param.name; });

// --- the log of a process that died between commit and checkpoint

TEST(CorruptLog, LosesOnlyTheLastCommit) {
    FaultVfs vfs;
    const Scratch crashed;
    const auto contents = contents_after_actions();
    {
        ASSERT_TRUE(Journal::open(crashed.path(), kNarrow));
    }
    commit_to_log_only(crashed, vfs, actions()[0].act);
    const std::string log = bytes_of(crashed.file("journal.db-wal"));
    ASSERT_GT(log.size(), kPage) << "the log is empty";
    for (std::size_t offset = 0; offset < log.size(); offset += 97) {
        SCOPED_TRACE(fmt::format("byte {}", offset));
        const Scratch scratch;
        scratch.become(crashed);
        std::string bytes = log;
        bytes[offset] = static_cast<char>(~bytes[offset]);
        write_bytes(scratch.file("journal.db-wal"), bytes);
        auto journal = Journal::open(scratch.path(), kNarrow);
        if (journal) {
            EXPECT_THAT(content_of(*journal), AnyOf(contents[0], contents[1]));
        } else {
            EXPECT_EQ(journal.error().code, Code::corrupt) << journal.error().what;
        }
    }
}

}  // namespace
}  // namespace kubexm::executor
