#include "daemon/agent/plan_run.hpp"

#include <gtest/gtest.h>

namespace kubexm::agent {
namespace {

TEST(PlanView, ShowsEveryStepBeforeAnythingHappened) {
    const model::Plan plan{"p1", "o", {model::Sysctl{"net.ipv4.ip_forward", "1"}}};
    const model::PlanView view = view_of(plan);
    EXPECT_EQ(view.id, "p1");
    EXPECT_EQ(view.hash, hash_of(plan));
    ASSERT_EQ(view.steps.size(), 1U);
    EXPECT_EQ(view.steps[0].state, "pending");
    EXPECT_EQ(view.steps[0].target, "net.ipv4.ip_forward");
}

TEST(PlanView, StepsOfAnUndoBecomeKnownAsTheyHappen) {
    model::PlanView view;
    take(view, {"undo-1", 2, "undone", "give back /etc/x", ""});
    ASSERT_EQ(view.steps.size(), 3U);
    EXPECT_EQ(view.steps[0].state, "pending");
    EXPECT_EQ(view.steps[2].text, "give back /etc/x");
    take(view, {"undo-1", 2, "failed", "", "no"});
    EXPECT_EQ(view.steps[2].state, "failed");
    EXPECT_EQ(view.steps[2].text, "give back /etc/x");
    take(view, {"undo-1", 4000000000U, "undone", "", ""});
    EXPECT_EQ(view.steps.size(), 3U) << "what the executor says is bounded too";
}

TEST(PlanIds, AreNeverTheSame) { EXPECT_NE(new_plan_id("join"), new_plan_id("join")); }

}  // namespace
}  // namespace kubexm::agent
