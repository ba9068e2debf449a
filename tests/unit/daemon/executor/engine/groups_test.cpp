#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "../host/path_units.hpp"
#include "daemon/executor/engine/footprint.hpp"
#include "daemon/plan/join.hpp"
#include "engine_host.hpp"

namespace kubexm::executor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kGroupsOfAJoin = 7;
constexpr std::size_t kGroupsOfARelease = 10;

/// One commit a group, and five: caller, plan, end of the last group, end of the plan, and one to
/// spare.
TEST(Groups, OfAJoinAreFew) {
    const model::Plan plan = plan::make_join({.owner = "machine-1", .node_name = "h1"}, "join-1");
    std::vector<const model::Step*> steps;
    steps.reserve(plan.steps.size());
    for (const model::Step& step : plan.steps) steps.push_back(&step);
    std::size_t groups = 0;
    for (std::span<const model::Step* const> left = steps; !left.empty(); ++groups) {
        left = left.subspan(first_group(left));
    }
    EXPECT_EQ(groups, kGroupsOfAJoin);
}

/// The newest step first, those that are undone last at the end.
std::vector<model::Step> in_undo_order(const model::Plan& plan) {
    std::vector<model::Step> steps(plan.steps.rbegin(), plan.steps.rend());
    std::ranges::stable_partition(steps, [](const model::Step& step) {
        return model::traits_of(step).undo_order != model::UndoOrder::last;
    });
    return steps;
}

/// One commit a group, and four: caller, plan, end of the plan, and one to spare.
TEST(Groups, OfAReleaseAreFew) {
    const model::Plan plan = plan::make_join({.owner = "machine-1", .node_name = "h1"}, "join-1");
    std::size_t groups = 1;
    std::vector<model::Step> group;
    for (const model::Step& step : in_undo_order(plan)) {
        const bool fits = std::ranges::all_of(group, [&](const model::Step& earlier) {
            return may_share_undo_commit(earlier, step);
        });
        if (!fits) group.clear();
        if (!fits) ++groups;
        group.push_back(step);
    }
    EXPECT_EQ(groups, kGroupsOfARelease);
}

/// Three links that form a group.
class GroupOfLinks : public EngineHost {
protected:
    static model::Plan plan_of(const std::vector<std::string>& paths) {
        model::Plan plan{"p", "machine-1", {}};
        for (const std::string& path : paths) plan.steps.emplace_back(model::Symlink{path, "x"});
        return plan;
    }
    std::vector<StepState> states() {
        std::vector<StepState> found;
        const auto plan = engine.plan("p");
        for (const StepRecord& step : plan->steps) found.push_back(step.state);
        return found;
    }
    /// Runs the plan; calls `meanwhile` when the step with this index is about to begin.
    Result<PlanState> run(const model::Plan& plan, std::uint32_t index,
                          const std::function<void()>& meanwhile, const Stop& stop = {}) {
        auto record = engine.accept(plan, {}, kAgentCaller);
        if (!record) return std::unexpected(record.error());
        // Once before the group, then before every step but the first.
        std::uint32_t passed = 0;
        const auto between = [&] {
            if (passed++ == index) meanwhile();
        };
        return engine.carry_out(*record, stop, {[](const Report&) {}, between});
    }
    std::map<std::string, std::uint32_t> objects() { return *engine.objects(); }
};

TEST_F(GroupOfLinks, AreAllDone) {
    EXPECT_THAT(applied(plan_of({"/etc/a", "/etc/b", "/etc/c"})), IsState(PlanState::done));
    EXPECT_THAT(states(), testing::Each(StepState::done));
    EXPECT_EQ(objects()["machine-1"], 3U);
}

TEST_F(GroupOfLinks, AFailureLeavesNoEntryOfStepsThatWereNotBegun) {
    // /etc/b becomes a directory after the group was prepared.
    const auto state = run(plan_of({"/etc/a", "/etc/b", "/etc/c"}), 1,
                           [&] { std::filesystem::create_directory(scratch_.at("/etc/b")); });
    EXPECT_THAT(state, IsState(PlanState::failed));
    EXPECT_THAT(states(), ElementsAre(StepState::done, StepState::failed, StepState::pending));
    EXPECT_EQ(objects()["machine-1"], 2U);
    EXPECT_THAT(*engine.preview_step(model::Symlink{"/etc/c", "x"}, kAgentCaller),
                testing::Field(&PreviewedStep::holds, false));
}

TEST_F(GroupOfLinks, AStoppedPlanLeavesNoEntryOfStepsThatWereNotBegun) {
    std::stop_source cancel;
    const auto state = run(plan_of({"/etc/a", "/etc/b"}), 1, [&] { cancel.request_stop(); },
                           {.cancel = cancel.get_token()});
    EXPECT_THAT(state, IsState(PlanState::cancelled));
    EXPECT_THAT(states(), ElementsAre(StepState::done, StepState::pending));
    EXPECT_EQ(objects()["machine-1"], 1U);
}

/// The plan owns what it came to.
TEST_F(GroupOfLinks, AStepThatHeldAlreadyAndWasNotBegunLeavesNoEntry) {
    std::filesystem::create_symlink("x", scratch_.at("/etc/c"));
    const auto state = run(plan_of({"/etc/a", "/etc/b", "/etc/c"}), 1,
                           [&] { std::filesystem::create_directory(scratch_.at("/etc/b")); });
    EXPECT_THAT(state, IsState(PlanState::failed));
    EXPECT_THAT(states(), ElementsAre(StepState::done, StepState::failed, StepState::pending));
    EXPECT_EQ(objects()["machine-1"], 2U);
}

TEST_F(GroupOfLinks, AForgottenStepLeavesTheEntryOfAnotherOwner) {
    ASSERT_THAT(applied({"machine-2", "machine-2", {model::Symlink{"/etc/b", "theirs"}}}),
                IsState(PlanState::done));
    std::stop_source cancel;
    ASSERT_THAT(run(plan_of({"/etc/a", "/etc/b"}), 1, [&] { cancel.request_stop(); },
                    {.cancel = cancel.get_token()}),
                IsState(PlanState::cancelled));
    EXPECT_THAT(objects(),
                ElementsAre(testing::Pair("machine-1", 1), testing::Pair("machine-2", 1)));
    auto undo = engine.accept_undo("u", "machine-2", kAgentCaller);
    ASSERT_THAT(undo, IsOk());
    EXPECT_THAT(carried_out(*undo), IsState(PlanState::undone));
    EXPECT_FALSE(std::filesystem::is_symlink(scratch_.at("/etc/b")));
}

/// What a step replaces is what undo gives back, also if it came after the group was prepared.
TEST_F(GroupOfLinks, AChangeAfterThePreparationIsCapturedAgain) {
    ASSERT_THAT(run(plan_of({"/etc/a", "/etc/b"}), 1,
                    [&] { put(scratch_.at("/etc/b"), "came in between"); }),
                IsState(PlanState::done));
    auto undo = engine.accept_undo("u", "machine-1", kAgentCaller);
    ASSERT_THAT(undo, IsOk());
    EXPECT_THAT(carried_out(*undo), IsState(PlanState::undone));
    EXPECT_EQ(content_of(scratch_.at("/etc/b")), "came in between");
    EXPECT_EQ(names_in(scratch_.at("/etc")), std::set<std::string>{"b"});
}

/// Also where its group is of one step: the commit before it may take long.
TEST_F(GroupOfLinks, AChangeBeforeAStepThatStandsAloneIsCapturedAgain) {
    engine.allow({.directories = {{"absent-path", {"/etc"}}}});
    put(scratch_.at("/etc/a"), "prepared");
    auto record =
        engine.accept({"p", "machine-1", {model::AbsentPath{"/etc/a"}}}, {}, kAgentCaller);
    ASSERT_THAT(record, IsOk());
    const auto meanwhile = [&](const Report& report) {
        if (report.state == StepState::prepared) put(scratch_.at("/etc/a"), "came in between");
    };
    ASSERT_THAT(engine.carry_out(*record, {}, {meanwhile, [] {}}), IsState(PlanState::done));
    EXPECT_FALSE(std::filesystem::exists(scratch_.at("/etc/a")));
    auto undo = engine.accept_undo("u", "machine-1", kAgentCaller);
    ASSERT_THAT(undo, IsOk());
    EXPECT_THAT(carried_out(*undo), IsState(PlanState::undone));
    EXPECT_EQ(content_of(scratch_.at("/etc/a")), "came in between");
}

/// A step that replaces nothing is not looked at again.
TEST_F(GroupOfLinks, AClaimIsCapturedOnce) {
    engine.allow({.directories = {{"symlink", {"/etc"}}, {"claim", {"/opt", "/srv"}}}});
    for (const char* path : {"/opt", "/srv"}) std::filesystem::create_directory(scratch_.at(path));
    model::Plan plan{"p", "machine-1", {model::Claim{"/opt", {}}, model::Claim{"/srv", {}}}};
    EXPECT_THAT(applied(plan), IsState(PlanState::done));
    EXPECT_THAT(fake.calls_of_interest(), testing::SizeIs(2)) << "mounts below each";
}

TEST_F(GroupOfLinks, AStepKnowsWhatAnEarlierOneOfItsObjectApplied) {
    engine.allow({.directories = {{"symlink", {"/etc"}}, {"claim", {"/etc"}}}});
    have_units(fake, "Where", {});
    std::filesystem::create_directory(scratch_.at("/etc/d"));
    const model::Claim claim{"/etc/d", std::nullopt};
    model::Plan plan{"p", "machine-1", {claim, model::Symlink{"/etc/d/a", "x"}, claim}};
    EXPECT_THAT(applied(plan), IsState(PlanState::done));
    EXPECT_THAT(states(), ElementsAre(StepState::done, StepState::done, StepState::skipped));
}

TEST_F(GroupOfLinks, APlanThatIsStoppedBetweenGroupsHasRecordedTheFirst) {
    std::stop_source cancel;
    engine.allow({.directories = {{"symlink", {"/etc"}}, {"absent-path", {"/etc"}}}});
    model::Plan plan{
        "p", "machine-1", {model::Symlink{"/etc/a", "x"}, model::AbsentPath{"/etc/b"}}};
    const auto state = run(plan, 1, [&] { cancel.request_stop(); }, {.cancel = cancel.get_token()});
    EXPECT_THAT(state, IsState(PlanState::cancelled));
    EXPECT_THAT(states(), ElementsAre(StepState::done, StepState::pending));
}

/// A step whose state cannot be captured before the step in front of it is done.
TEST_F(GroupOfLinks, AStepThatNeedsTheOneBeforeItWaits) {
    engine.allow({.directories = {{"directory", {"/etc"}}, {"symlink", {"/etc"}}}});
    if (!is_root()) GTEST_SKIP() << "a directory of root";
    model::Plan plan{"p", "machine-1", {model::Directory{"/etc/d", {.mode = model::Mode{0700}}}}};
    plan.steps.emplace_back(model::Symlink{"/etc/d/link", "x"});
    EXPECT_THAT(applied(plan), IsState(PlanState::done));
}

}  // namespace
}  // namespace kubexm::executor
