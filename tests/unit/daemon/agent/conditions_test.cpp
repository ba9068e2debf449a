#include "daemon/agent/conditions.hpp"

#include <gtest/gtest.h>

#include "daemon/agent/board.hpp"
#include "daemon/agent/status_line.hpp"

namespace kubexm::agent {
namespace {

TEST(Conditions, KeepTheTimeOfTheLastChangeOfStatus) {
    std::vector<model::Condition> list;
    EXPECT_TRUE(put(list, is_false("Ready", "Info", "Waiting", "a"), "t1"));
    EXPECT_FALSE(put(list, is_false("Ready", "Info", "Waiting", "a"), "t2"));
    EXPECT_TRUE(put(list, is_false("Ready", "Info", "Waiting", "b"), "t3"));
    EXPECT_EQ(list.at(0).since, "t1");
    EXPECT_TRUE(put(list, is_true("Ready", ""), "t4"));
    EXPECT_EQ(list.at(0).since, "t4");
}

TEST(Conditions, AreSortedAndThereOnce) {
    std::vector<model::Condition> list;
    for (const char* type : {"B", "A", "C", "B"}) put(list, is_true(type, ""), "t");
    ASSERT_EQ(list.size(), 3U);
    EXPECT_EQ(list[0].type, "A");
    EXPECT_EQ(list[2].type, "C");
}

TEST(Conditions, HaveTimesAsKubernetesWritesThem) {
    EXPECT_EQ(rfc3339(std::chrono::system_clock::from_time_t(0)), "1970-01-01T00:00:00Z");
}

TEST(Board, WhoReadKeepsWhatWasRead) {
    int changes = 0;
    Board board({}, [&changes](const model::Snapshot&) { ++changes; });
    const auto before = board.read();
    board.set(is_true("Ready", ""));
    EXPECT_TRUE(before->conditions.empty());
    EXPECT_EQ(board.read()->conditions.size(), 1U);
    board.drop("Ready");
    EXPECT_TRUE(board.read()->conditions.empty());
    EXPECT_EQ(changes, 2);
}

TEST(StatusLine, SaysWhereTheHostIsAndWhetherTheHandsAnswer) {
    model::Snapshot snapshot;
    EXPECT_EQ(status_line(snapshot), "No bootstrap kubeconfig.");
    snapshot.phase = model::Phase::joined;
    snapshot.assignment = model::AssignmentView{"my-cluster", "", "", "", ""};
    put(snapshot.conditions, is_true(kHandsAnswer, ""), "t");
    EXPECT_EQ(status_line(snapshot), "A node of my-cluster. The hands answer.");
    put(snapshot.conditions, is_false(kHandsAnswer, "Warning", "NoAnswer", "gone"), "t");
    EXPECT_EQ(status_line(snapshot), "A node of my-cluster. The hands do not answer: gone");
}

}  // namespace
}  // namespace kubexm::agent
