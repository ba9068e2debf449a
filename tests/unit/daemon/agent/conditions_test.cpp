#include "daemon/agent/conditions.hpp"

#include <gtest/gtest.h>

#include "daemon/agent/state_store.hpp"
#include "daemon/agent/status_line.hpp"

namespace kubexm::agent {
namespace {

TEST(Conditions, TheTimeIsThatOfTheLastStatusChange) {
    std::vector<model::Condition> list;
    EXPECT_TRUE(put(list, is_false("Ready", "Info", "Waiting", "a"), "t1"));
    EXPECT_FALSE(put(list, is_false("Ready", "Info", "Waiting", "a"), "t2"));
    EXPECT_TRUE(put(list, is_false("Ready", "Info", "Waiting", "b"), "t3"));
    EXPECT_EQ(list.at(0).since, "t1");
    EXPECT_TRUE(put(list, is_true("Ready", ""), "t4"));
    EXPECT_EQ(list.at(0).since, "t4");
}

TEST(Conditions, AreSortedAndUnique) {
    std::vector<model::Condition> list;
    for (const char* type : {"B", "A", "C", "B"}) put(list, is_true(type, ""), "t");
    ASSERT_EQ(list.size(), 3U);
    EXPECT_EQ(list[0].type, "A");
    EXPECT_EQ(list[2].type, "C");
}

TEST(Conditions, TimesAreRfc3339InUtc) {
    EXPECT_EQ(rfc3339(std::chrono::system_clock::from_time_t(0)), "1970-01-01T00:00:00Z");
}

TEST(StateStore, AReaderKeepsItsVersion) {
    int changes = 0;
    StateStore store(
        {}, [] { return std::chrono::system_clock::now(); },
        [&changes](const model::Snapshot&) { ++changes; });
    const auto before = store.snapshot();
    store.change([](AgentState& state) { state.executor.connected = Result<>(); });
    EXPECT_TRUE(before->conditions.empty());
    EXPECT_EQ(store.snapshot()->conditions.size(), 1U);
    store.change([](AgentState&) {});
    EXPECT_EQ(changes, 1) << "an equal Snapshot is not published";
}

TEST(StatusLine, HasThePhaseAndTheExecutor) {
    model::Snapshot snapshot;
    EXPECT_EQ(status_line(snapshot), "No bootstrap kubeconfig.");
    snapshot.phase = model::Phase::joined;
    snapshot.assignment = model::AssignmentView{"my-cluster", "", "", "", ""};
    put(snapshot.conditions, is_true(kExecutorAvailable, ""), "t");
    EXPECT_EQ(status_line(snapshot), "Node of my-cluster. Executor available.");
    put(snapshot.conditions, is_false(kExecutorAvailable, "Warning", "NoAnswer", "gone"), "t");
    EXPECT_EQ(status_line(snapshot), "Node of my-cluster. Executor not available: gone");
}

}  // namespace
}  // namespace kubexm::agent
