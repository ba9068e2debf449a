#include "service_host.hpp"

// Plans: offered, followed, replaced, resumed, and seen by subscribers.

namespace kubexm::executor {
namespace {

using model::PlanState;
using model::StepState;
using testing::HasSubstr;

class ServicePlansTest : public ServiceHost {
protected:
    static wire::Apply apply(const std::string& id, bool replace = false) {
        return {own_plan(id, "/etc/" + id), {}, replace};
    }
    PlanState state_of(WireClient& client, const std::string& id) {
        return std::get<wire::PlanSummary>(client.ask(99, wire::Follow{id})).state;
    }
};

TEST_F(ServicePlansTest, AcceptsAPlanAndFollowsItToItsEnd) {
    WireClient client = greeted();
    hold_worker();
    client.send(5, apply("p1"));
    release_worker();
    EXPECT_EQ(std::get<wire::Accepted>(client.last(5)).plan_id, "p1");
    client.send(6, wire::Follow{"p1"});
    std::vector<StepState> states;
    auto reply = client.received();
    for (; reply.part == kMore; reply = client.received()) {
        EXPECT_EQ(reply.id, 6U);
        states.push_back(std::get<wire::StepEvent>(reply.reply).state);
    }
    EXPECT_EQ(states.back(), StepState::done);
    EXPECT_EQ(std::get<wire::PlanSummary>(reply.reply).state, PlanState::done);
    EXPECT_TRUE(fs::is_symlink(scratch_.at("/etc/p1")));
}

TEST_F(ServicePlansTest, FollowsSeveralPlansOnOneConnection) {
    WireClient client = greeted();
    client.ask(5, apply("p1"));
    EXPECT_EQ(state_of(client, "p1"), PlanState::done);
    client.ask(6, apply("p2"));
    client.send(10, wire::Follow{"p1"});
    client.send(11, wire::Follow{"p2"});
    client.send(12, wire::Follow{"p2"});
    std::map<std::uint32_t, std::string> ends;
    while (ends.size() < 3) {
        const auto reply = client.received();
        if (reply.part == kLast) ends[reply.id] = std::get<wire::PlanSummary>(reply.reply).plan_id;
    }
    EXPECT_EQ(ends, (std::map<std::uint32_t, std::string>{{10, "p1"}, {11, "p2"}, {12, "p2"}}));
}

TEST_F(ServicePlansTest, OffersSeveralPlansAtATime) {
    WireClient client = greeted();
    hold_worker();
    client.send(5, apply("p1"));
    client.send(6, apply("p2"));
    EXPECT_TRUE(std::holds_alternative<wire::Hello>(client.hello()));
    release_worker();
    EXPECT_EQ(std::get<wire::Accepted>(client.received().reply).plan_id, "p1");
    EXPECT_EQ(std::get<wire::Accepted>(client.received().reply).plan_id, "p2");
}

TEST_F(ServicePlansTest, AnInterruptedPlanIsObservedAsRunningBeforeItIsResumed) {
    ASSERT_TRUE(engine.accept(own_plan("p1", "/etc/p1"), {}, {::getuid(), ::getpid(), {}}));
    hold_worker();
    WireClient client = greeted();
    client.send(5, wire::Observe{});
    EXPECT_TRUE(std::holds_alternative<wire::Hello>(client.hello()));
    release_worker();
    EXPECT_EQ(std::get<wire::Observation>(client.last(5)).running_plan, "p1");
    EXPECT_EQ(state_of(client, "p1"), PlanState::done);
    EXPECT_EQ(std::get<wire::Observation>(client.ask(6, wire::Observe{})).running_plan, "");
}

TEST_F(ServicePlansTest, CarriesOutAPlanWhoseClientIsGone) {
    {
        WireClient client = greeted();
        hold_worker();
        client.send(5, apply("p1"));
        EXPECT_TRUE(std::holds_alternative<wire::Hello>(client.hello()));
    }
    release_worker();
    WireClient other = greeted();
    other.ask(5, apply("p2"));  // behind the first one
    EXPECT_EQ(state_of(other, "p1"), PlanState::done);
}

/// A subscriber learns of units and drift, too, at any time.
wire::PlanSummary next_plan(WireClient& subscriber) {
    for (;;) {
        const auto event = subscriber.received();
        const auto* plan = std::get_if<wire::PlanSummary>(&event.reply);
        if (plan == nullptr) continue;
        EXPECT_EQ(event.id, 5U);
        EXPECT_EQ(event.part, kMore);
        return *plan;
    }
}

TEST_F(ServicePlansTest, ASubscriberSeesThePlansOfOthers) {
    WireClient watching = greeted();
    watching.send(5, wire::Subscribe{});
    EXPECT_TRUE(std::holds_alternative<wire::Hello>(watching.hello()));
    WireClient client = greeted();
    client.ask(5, apply("p1"));
    const auto begin = next_plan(watching);
    EXPECT_EQ(begin.plan_id, "p1");
    EXPECT_EQ(begin.state, PlanState::running);
    EXPECT_EQ(next_plan(watching).state, PlanState::done);
    client.ask(6, wire::Undo{"u1", own_owner()});
    EXPECT_EQ(next_plan(watching).purpose, model::PlanPurpose::release);
}

TEST_F(ServicePlansTest, ASubscriberGetsNoEventsAfterItsConnectionEnded) {
    {
        WireClient watching = greeted();
        watching.send(5, wire::Subscribe{});
    }
    WireClient client = greeted();
    client.ask(5, apply("p1"));
    EXPECT_EQ(state_of(client, "p1"), PlanState::done);
}

TEST_F(ServicePlansTest, AnUndoIsRefusedWithoutStoppingAnything) {
    WireClient client = greeted();
    client.ask(5, apply("p1"));
    EXPECT_THAT(refusal_in(client.ask(6, wire::Undo{"p1", own_owner()})),
                HasSubstr("accepted before"));
    EXPECT_EQ(state_of(client, "p1"), PlanState::done);
}

TEST_F(ServicePlansTest, ResumesAnInterruptedPlanForItsFollower) {
    {
        Engine earlier(state(), root_, systemd, engine.allowed());
        ASSERT_THAT(earlier.accept(link_plan("p1", "/etc/p1"), {}, kAgentCaller), IsOk());
    }
    WireClient client = greeted();
    EXPECT_EQ(state_of(client, "p1"), PlanState::done);
    EXPECT_TRUE(fs::is_symlink(scratch_.at("/etc/p1")));
}

TEST_F(ServicePlansTest, AnUndoThatRunsIsNotReplacedByAnotherOfKubexmd) {
    {
        Engine earlier(state(), root_, systemd, engine.allowed());
        auto record = earlier.accept(link_plan("p1"), {}, kAgentCaller);
        ASSERT_THAT(record, IsOk());
        ASSERT_THAT(earlier.carry_out(*record, {}, {[](const Report&) {}, [] {}}), IsOk());
        ASSERT_THAT(earlier.accept_undo("u1", "machine-1", kAgentCaller), IsOk());
    }
    hold_worker();  // it is resumed afterwards
    WireClient client = greeted_as_agent();
    client.send(5, wire::Undo{"u2", "machine-1"});
    client.send(6, wire::Hello{wire::kProtocol, "a test"});  // answered after the undo was read
    EXPECT_EQ(client.received().id, 6U);
    release_worker();
    const auto reply = client.last(5);
    ASSERT_EQ(refusal_in(reply), "");
    EXPECT_EQ(std::get<wire::Accepted>(reply).plan_id, "u1");
    EXPECT_EQ(state_of(client, "u1"), PlanState::undone);
}

}  // namespace
}  // namespace kubexm::executor
