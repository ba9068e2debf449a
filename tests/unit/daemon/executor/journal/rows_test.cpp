#include "daemon/executor/journal/rows.hpp"

#include <gtest/gtest.h>

namespace kubexm::executor::journal {
namespace {

TEST(Seal, NeverChanges) {
    // Journals on disk have such seals. SHA-256 of
    // "5:audit8:previous1:11:21:31:45:event6:detail".
    const AuditRecord record{
        .sequence = 1, .at = 2, .uid = 3, .pid = 4, .event = "event", .detail = "detail"};
    EXPECT_EQ(seal_of(record, "previous"),
              "e1ce160109e6ba1c34e92bf65d5eb5d4a71855e315fd8635417395e4a9a3c99a");
}

TEST(Seal, DiffersWhenValuesMoveBetweenColumns) {
    LedgerEntry one;
    LedgerEntry other;
    one.type = "ab";
    one.target = "c";
    other.type = "a";
    other.target = "bc";
    EXPECT_NE(seal_of(one), seal_of(other));
    other = one;
    other.target = "c1:d";  // looks like a length and a value
    EXPECT_NE(seal_of(one), seal_of(other));
}

TEST(Seal, CoversEveryColumnAndThePredecessor) {
    const std::string before = seal_of(FailureRow{});
    EXPECT_NE(seal_of(FailureRow{.hash = "x"}), before);
    EXPECT_NE(seal_of(FailureRow{.plan = 1}), before);
    EXPECT_NE(seal_of(FailureRow{.error = "x"}), before);
    EXPECT_NE(seal_of(FailureRow{.count = 1}), before);
    EXPECT_NE(seal_of(FailureRow{.last_at = 1}), before);
    EXPECT_NE(seal_of(FailureRow{}, "x"), before);
}

}  // namespace
}  // namespace kubexm::executor::journal
