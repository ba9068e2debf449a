#include <gtest/gtest.h>

#include "daemon/executor/journal/sqlite.hpp"

namespace kubexm::executor::journal {
namespace {

class Statements : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(database_.script("CREATE TABLE t (n INTEGER UNIQUE)")); }
    Result<> insert(std::int64_t number) {
        return database_.run("INSERT INTO t VALUES (?)", number);
    }

    sqlite::Database database_ = sqlite::Database::open(":memory:").value();
};

TEST_F(Statements, OfOneTextAreUsedAtTheSameTime) {
    ASSERT_TRUE(insert(1));
    ASSERT_TRUE(insert(2));
    const char* sql = "SELECT n FROM t WHERE n >= ? ORDER BY n";
    auto outer = database_.query(sql, 1).value();
    ASSERT_EQ(outer.step(), true);
    auto inner = database_.query(sql, 2).value();
    ASSERT_EQ(inner.step(), true);
    EXPECT_EQ(outer.integer(0), 1);
    EXPECT_EQ(inner.integer(0), 2);
}

TEST_F(Statements, ForgetValuesRowsAndErrorsOfTheirLastUse) {
    ASSERT_TRUE(insert(1));
    EXPECT_FALSE(insert(1));
    EXPECT_TRUE(insert(2));
    EXPECT_EQ(database_.number("SELECT count(*) FROM t WHERE n < ?", 5), 2);
    EXPECT_EQ(database_.number("SELECT count(*) FROM t WHERE n < ?"), 0) << "unbound is NULL";
    {
        auto half_read = database_.query("SELECT n FROM t ORDER BY n").value();
        ASSERT_EQ(half_read.step(), true);
    }
    auto again = database_.query("SELECT n FROM t ORDER BY n").value();
    ASSERT_EQ(again.step(), true);
    EXPECT_EQ(again.integer(0), 1);
}

TEST_F(Statements, MayBeIdleWhenTheDatabaseMovesAndCloses) {
    ASSERT_TRUE(insert(1));
    database_ = sqlite::Database::open(":memory:").value();
    EXPECT_FALSE(insert(1)) << "another database";
}

}  // namespace
}  // namespace kubexm::executor::journal
