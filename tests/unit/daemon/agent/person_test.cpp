#include "harness/harness.hpp"

// Commands of a person: pause, resume, leave, and an undo by root.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::ConditionStatus;
using model::Phase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class PersonsWord : public Harness {};

TEST_F(PersonsWord, APauseStopsNewOrdersAndEndsByItself) {
    join();
    EXPECT_THAT(command(model::Verb::pause, 2h).value(), HasSubstr("paused until"));
    EXPECT_EQ(phase(), Phase::paused);
    management_.patch(kHost, {{"spec", {{"labels", {{"team", "red"}}}}}});
    advance(1h);
    restart();
    EXPECT_EQ(phase(), Phase::paused);
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_EQ(reported(kNotPaused).status, ConditionStatus::no);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes) << "the node is still watched";
    advance(70min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(executor_.applied, SizeIs(2));
    EXPECT_EQ(reported(kNotPaused).status, ConditionStatus::yes);
}

TEST_F(PersonsWord, ResumeEndsAPauseWithoutEnd) {
    join();
    ASSERT_TRUE(command(model::Verb::pause));
    ask_for_release();
    advance(48h);
    EXPECT_THAT(executor_.undone, IsEmpty());
    ASSERT_TRUE(command(model::Verb::resume));
    advance(10s);
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
}

TEST_F(PersonsWord, LeaveReleasesAndStaysUntilTheOrdersChange) {
    join();
    ASSERT_TRUE(command(model::Verb::pause));
    ASSERT_TRUE(command(model::Verb::leave)) << "a pause does not stop an explicit leave";
    advance(10s);
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
    EXPECT_EQ(workload_.find(kNode), nullptr);
    EXPECT_EQ(phase(), Phase::paused);
    ASSERT_TRUE(command(model::Verb::pause, 1s)) << "the newer pause counts";
    advance(10s);
    EXPECT_EQ(phase(), Phase::held);
    advance(5h);
    restart();
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_THAT(reported(kAssignmentApplied).message, HasSubstr("kubexmctl resume"));
    assign("u2", "workers-2");
    advance(10s);
    EXPECT_THAT(executor_.applied, SizeIs(2));
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(PersonsWord, WithoutANodeThereIsNothingToLeave) {
    start();
    EXPECT_EQ(command(model::Verb::leave).error().code, Code::not_found);
    EXPECT_EQ(command(model::Verb::adopt).error().code, Code::conflict);
}

TEST_F(PersonsWord, AnUndoByRootStaysUntilResume) {
    join();
    executor_.undo_as_root("machine-u1");
    advance(5h);
    EXPECT_THAT(executor_.applied, SizeIs(1));
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(reported(kAssignmentApplied).message, HasSubstr("root undid"));
    ASSERT_TRUE(command(model::Verb::resume));
    advance(10s);
    EXPECT_THAT(executor_.applied, SizeIs(2));
}

TEST_F(PersonsWord, AnUndoByRootIsForgottenWhenTheOrdersChange) {
    join();
    executor_.undo_as_root("machine-u1");
    advance(10s);
    EXPECT_EQ(phase(), Phase::held);
    management_.patch(kHost, {{"status", {{"machineRef", nullptr}}}});
    advance(10s);
    EXPECT_EQ(phase(), Phase::waiting);
    assign();
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    executor_.undo_as_root("machine-u1");
    advance(10s);
    EXPECT_EQ(phase(), Phase::held);
    assign("u2", "workers-2");
    advance(10s);
    ask_for_release();
    advance(10s);
    assign();
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
}

}  // namespace
}  // namespace kubexm::agent
