#include "daemon/executor/journal/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>

#include "daemon/executor/journal/journal.hpp"
#include "scratch.hpp"

namespace kubexm::executor::journal {
namespace {

using testing::HasSubstr;

// Three versions, as a later program would have.
constexpr std::array<const char*, 3> kVersions{
    "CREATE TABLE t(a INTEGER NOT NULL) STRICT", "ALTER TABLE t ADD COLUMN b TEXT",
    "CREATE INDEX i ON t(b); UPDATE t SET b = 'from ' || a"};

Migrations versions(std::size_t count) { return Migrations(kVersions).first(count); }

TEST(Schema, AnOldDatabaseIsMigratedWithItsContent) {
    auto database = sqlite::Database::open(":memory:");
    ASSERT_TRUE(database);
    ASSERT_TRUE(migrate(*database, 0, versions(1)));
    ASSERT_TRUE(database->run("INSERT INTO t VALUES(7)"));
    const auto version = check_schema(*database, versions(3));
    ASSERT_TRUE(version) << version.error().what;
    EXPECT_EQ(*version, 1);
    ASSERT_TRUE(migrate(*database, *version, versions(3)));
    EXPECT_EQ(*check_schema(*database, versions(3)), 3);
    EXPECT_EQ(*database->text("SELECT b FROM t"), "from 7");
}

TEST(Schema, ANewerDatabaseIsInvalidNotCorrupt) {
    auto database = sqlite::Database::open(":memory:");
    ASSERT_TRUE(database);
    ASSERT_TRUE(migrate(*database, 0, versions(3)));
    const auto version = check_schema(*database, versions(2));
    ASSERT_FALSE(version);
    EXPECT_EQ(version.error().code, Code::invalid);
    EXPECT_THAT(version.error().what,
                HasSubstr("newer kubexm-executor (expected schema 2 at most, found 3)"));
}

TEST(Schema, AJournalOfANewerProgramIsNotChanged) {
    const Scratch scratch;
    {
        ASSERT_TRUE(Journal::open(scratch.path(), {}));
    }
    sqlite3* database = nullptr;
    ASSERT_EQ(::sqlite3_open(scratch.file("journal.db").c_str(), &database), SQLITE_OK);
    const char* newer = "CREATE TABLE more(x); PRAGMA user_version = 2";
    ASSERT_EQ(::sqlite3_exec(database, newer, nullptr, nullptr, nullptr), SQLITE_OK);
    ASSERT_EQ(::sqlite3_close(database), SQLITE_OK);
    const std::string before = bytes_of(scratch.file("journal.db"));
    const auto journal = Journal::open(scratch.path(), {});
    ASSERT_FALSE(journal);
    EXPECT_EQ(journal.error().code, Code::invalid);
    EXPECT_THAT(journal.error().what, HasSubstr("install that version again"));
    EXPECT_EQ(bytes_of(scratch.file("journal.db")), before);
}

}  // namespace
}  // namespace kubexm::executor::journal
