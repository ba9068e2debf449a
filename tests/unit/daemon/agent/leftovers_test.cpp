#include "harness/harness.hpp"

// What a release could not undo, and what comes after it.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::ConditionStatus;
using model::Phase;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// A host of which a file of the node cannot be removed, and is tried again.
class Leftovers : public Harness {
protected:
    void release_with(bool blocks_join) {
        join();
        executor_.leftovers = {{"file /etc/kubernetes/pki/ca.crt", "immutable", blocks_join}};
        ask_for_release();
        advance(10s);
    }
    bool is_assigned() {
        return management_.find(kHost)->contains("/status/machineRef"_json_pointer);
    }
    void join_next() {
        assign("u2", "workers-2");
        advance(10s);
    }
};

TEST_F(Leftovers, ThatHarmNoJoinDoNotKeepTheHost) {
    release_with(false);
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_FALSE(is_assigned());
    EXPECT_EQ(workload_.find(kNode), nullptr);
    EXPECT_THAT(reported(kBootstrapped).message,
                AllOf(HasSubstr("file /etc/kubernetes/pki/ca.crt stays: immutable"),
                      Not(HasSubstr("previous state is restored"))));
    advance(5h);
    EXPECT_THAT(executor_.undone, SizeIs(1)) << "the executor tries again, kubexmd does not";
}

TEST_F(Leftovers, AreNotNamedAnyMoreWhenTheExecutorHasRemovedThem) {
    release_with(false);
    ASSERT_THAT(reported(kBootstrapped).message, HasSubstr("stays: immutable"));
    executor_.leftovers.clear();
    executor_.undo_again("machine-u1");
    advance(10s);
    EXPECT_EQ(reported(kBootstrapped).reason, kNodeAbsent);
    EXPECT_THAT(reported(kBootstrapped).message, HasSubstr("previous state is restored"));
    restart();
    advance(1h);
    EXPECT_THAT(reported(kBootstrapped).message, HasSubstr("previous state is restored"));
}

TEST_F(Leftovers, AreRemovedBesideANodeThatIsLeft) {
    join();
    executor_.leftovers = {{"file /etc/kubernetes/pki/ca.crt", "immutable", false}};
    workload_.set_available(false);
    ask_for_release();
    advance(10min);
    ASSERT_THAT(reported(kBootstrapped).message,
                AllOf(HasSubstr("kubectl delete node h1"), HasSubstr("stays: immutable")));
    executor_.leftovers.clear();
    executor_.undo_again("machine-u1");
    restart();
    advance(10s);
    EXPECT_THAT(reported(kBootstrapped).message,
                AllOf(HasSubstr("kubectl delete node h1"), Not(HasSubstr("stays"))));
}

TEST_F(Leftovers, ThatHarmAJoinKeepTheHost) {
    release_with(true);
    EXPECT_EQ(phase(), Phase::releasing);
    EXPECT_TRUE(is_assigned());
    EXPECT_THAT(reported(kBootstrapped).message, HasSubstr("immutable"));
    executor_.leftovers.clear();
    advance(10min);
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_THAT(reported(kBootstrapped).message, HasSubstr("previous state is restored"));
}

TEST_F(Leftovers, AreNoNodeThatTheNextMachineAdopts) {
    release_with(false);
    join_next();
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(executor_.applied, SizeIs(2));
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
    restart();
    advance(1h);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(executor_.applied, SizeIs(2));
    EXPECT_THAT(executor_.undone, SizeIs(1));
}

TEST_F(Leftovers, AreNoNodeWhileTheExecutorTriesAgain) {
    release_with(false);
    join_next();
    executor_.holds_plans = true;
    executor_.undo_again("machine-u1");
    advance(1min);
    EXPECT_EQ(phase(), Phase::joined);
    restart();
    advance(1min);
    EXPECT_EQ(phase(), Phase::joined);
    executor_.end_plan(model::PlanState::cancelled);
    restart();
    advance(1min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(executor_.applied, SizeIs(2));
    EXPECT_THAT(executor_.undone, SizeIs(1));
}

TEST_F(Leftovers, OfTheSameMachineDoNotHinderIt) {
    release_with(false);
    assign();
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    executor_.leftovers.clear();
    ask_for_release();
    advance(10s);
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_FALSE(executor_.has("machine-u1"));
}

TEST_F(Leftovers, AreNamedByTheReleaseOfTheNextMachine) {
    release_with(false);
    join_next();
    executor_.leftovers.clear();
    ask_for_release();
    advance(10s);
    EXPECT_FALSE(is_assigned());
    EXPECT_THAT(reported(kBootstrapped).message,
                AllOf(HasSubstr("file /etc/kubernetes/pki/ca.crt stays: immutable"),
                      Not(HasSubstr("previous state is restored"))));
}

TEST_F(Leftovers, EndALeaveToo) {
    join();
    executor_.leftovers = {{"file /etc/kubernetes/pki/ca.crt", "immutable", false}};
    ASSERT_TRUE(command(model::Verb::leave));
    advance(10s);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(reported(kAssignmentApplied).message, HasSubstr("kubexmctl leave released"));
    EXPECT_EQ(command(model::Verb::leave).error().code, Code::not_found);
    restart();
    advance(1h);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_THAT(executor_.undone, SizeIs(1));
}

/// Such as a list that is too long.
TEST(ReleasedMachines, AreThoseWhoseObjectsAreAllNamed) {
    wire::Outcome undo;
    undo.purpose = model::PlanPurpose::release;
    undo.state = model::PlanState::failed;
    undo.stays = {{"file /x", "immutable", false}};
    const auto present = [&](std::uint32_t objects) {
        return ExecutorState{{{"machine-u1", objects, {undo}, {}}}, ""}.present_machines();
    };
    EXPECT_THAT(present(1), IsEmpty());
    EXPECT_THAT(present(2), ElementsAre("machine-u1"));
    undo.state = model::PlanState::cancelled;
    EXPECT_THAT(present(1), IsEmpty());
    undo.state = model::PlanState::running;
    EXPECT_THAT(present(1), ElementsAre("machine-u1"));
    undo.stays.front().blocks_join = true;
    undo.state = model::PlanState::failed;
    EXPECT_THAT(present(1), ElementsAre("machine-u1"));
}

}  // namespace
}  // namespace kubexm::agent
