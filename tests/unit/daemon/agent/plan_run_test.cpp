#include "daemon/agent/plan_run.hpp"

#include <gtest/gtest.h>

namespace kubexm::agent {
namespace {

TEST(PlanView, ShowsEveryStepAsPending) {
    const model::Plan plan{"p1", "o", {model::Sysctl{"net.ipv4.ip_forward", "1"}}};
    const model::PlanView view = view_of(plan);
    EXPECT_EQ(view.id, "p1");
    EXPECT_EQ(view.hash, hash_of(plan));
    ASSERT_EQ(view.steps.size(), 1U);
    EXPECT_EQ(view.steps[0].state, model::StepState::pending);
    EXPECT_EQ(view.steps[0].target, "net.ipv4.ip_forward");
}

TEST(PlanView, StepsOfAnUndoAreAddedByTheirEvents) {
    model::PlanView view;
    apply_event(view, {"undo-1", 2, model::StepState::done, "restore /etc/x", ""});
    ASSERT_EQ(view.steps.size(), 3U);
    EXPECT_EQ(view.steps[0].state, model::StepState::pending);
    EXPECT_EQ(view.steps[2].text, "restore /etc/x");
    apply_event(view, {"undo-1", 2, model::StepState::failed, "", "no"});
    EXPECT_EQ(view.steps[2].state, model::StepState::failed);
    EXPECT_EQ(view.steps[2].text, "restore /etc/x");
    apply_event(view, {"undo-1", 4000000000U, model::StepState::done, "", ""});
    EXPECT_EQ(view.steps.size(), 3U) << "the number of steps is limited";
}

}  // namespace
}  // namespace kubexm::agent
