#include <fcntl.h>

#include "service_host.hpp"

// What a client can use up, and clients that misbehave.

namespace kubexm::executor {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ServiceLimitsTest : public ServiceHost {};

constexpr std::uint32_t kMostOpen = 32;

TEST_F(ServiceLimitsTest, BoundsTheOpenRequestsOfAConnection) {
    WireClient client = greeted();
    for (std::uint32_t id = 10; id < 10 + kMostOpen; ++id) client.send(id, wire::Subscribe{});
    EXPECT_THAT(refusal_in(client.ask(5, wire::History{})),
                HasSubstr("has 32 open requests already; wait for a reply"));
    WireClient other = greeted();
    EXPECT_TRUE(std::holds_alternative<wire::End>(other.ask(5, wire::History{})));
}

/// How many of the replies up to that of `id` are refusals.
std::size_t refusals_until(WireClient& client, std::uint32_t id) {
    std::size_t refusals = 0;
    for (;;) {
        const auto reply = client.received();
        if (reply.id == id) return refusals;
        EXPECT_THAT(refusal_in(reply.reply), HasSubstr("too many requests of user"));
        ++refusals;
    }
}

TEST_F(ServiceLimitsTest, BoundsTheWaitingQueriesOfAUser) {
    WireClient client = greeted();
    WireClient other = greeted();
    hold_worker();
    for (std::uint32_t id = 10; id < 30; ++id) {
        client.send(id, wire::History{});
        other.send(id, wire::History{});
    }
    std::size_t refusals = 0;
    for (WireClient* each : {&client, &other}) {
        each->send(9, wire::Hello{wire::kProtocol, "a test"});  // answered after all were read
        refusals += refusals_until(*each, 9);
    }
    // 32 of 40 wait; the last refusals may come after the reply to the hello, and as root the
    // service's own queries are among those that wait.
    EXPECT_THAT(refusals, testing::AllOf(testing::Ge(6U), testing::Le(10U)));
    release_worker();
    EXPECT_TRUE(std::holds_alternative<wire::End>(client.last(10)));
    EXPECT_TRUE(std::holds_alternative<wire::End>(other.last(10)));
}

TEST_F(ServiceLimitsTest, BoundsTheWaitingPlans) {
    WireClient client = greeted();
    hold_worker();
    constexpr std::uint32_t kPlans = 5;
    for (std::uint32_t id = 10; id < 10 + kPlans; ++id) {
        client.send(id, wire::Apply{own_plan("p" + std::to_string(id)), {}, false});
    }
    const auto refused = client.received();
    EXPECT_THAT(refusal_in(refused.reply), HasSubstr("too many plans are queued"));
    release_worker();
    for (std::uint32_t id = 10; id < refused.id; ++id) {
        EXPECT_TRUE(std::holds_alternative<wire::Accepted>(client.last(id))) << id;
    }
}

TEST_F(ServiceLimitsTest, BoundsTheDescriptorsThatWait) {
    WireClient client = greeted();
    hold_worker();
    const Fd file{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    const std::vector<int> many(wire::kMaxDescriptors - 1, file.get());
    const std::vector<std::string> digests(many.size(), std::string(64, 'a'));
    client.send(10, wire::Apply{own_plan("p1"), digests, false}, many);
    client.send(11, wire::Apply{own_plan("p2"), {digests[0], digests[1]}, false},
                {file.get(), file.get()});
    EXPECT_THAT(refusal_in(client.last(11)), HasSubstr("wait with 63 descriptors already"));
    client.send(12, wire::Apply{own_plan("p3"), {digests[0]}, false}, {file.get()});
    release_worker();
    EXPECT_THAT(refusal_in(client.last(10)), HasSubstr("no step of the plan needs it"));
    EXPECT_THAT(refusal_in(client.last(12)), HasSubstr("no step of the plan needs it"));
    client.send(13, wire::Apply{own_plan("p4"), digests, false}, many);
    EXPECT_THAT(refusal_in(client.last(13)), HasSubstr("no step of the plan needs it"));
}

TEST_F(ServiceLimitsTest, BoundsTheConnectionsOfAUser) {
    std::vector<WireClient> clients;
    clients.reserve(16);
    for (int i = 0; i < 16; ++i) clients.push_back(greeted());
    WireClient late = connected();
    const auto reply = late.received();
    EXPECT_EQ(reply.id, 0U);
    EXPECT_THAT(refusal_in(reply.reply), HasSubstr("has 16 connections already"));
    EXPECT_TRUE(std::holds_alternative<wire::Hello>(clients.front().hello()));
}

TEST_F(ServiceLimitsTest, CancelsWithoutEndKeepNobodyFromChangingTheLists) {
    std::latch began(1);
    std::latch release(1);
    worker_.plan(0, [&] {
        const Stop stop = worker_.begin_plan("p1", agent_user());
        began.count_down();
        release.wait();
    });
    began.wait();
    WireClient client = greeted_as_agent();
    for (std::uint32_t id = 10; id < 60; ++id) {
        EXPECT_TRUE(std::holds_alternative<wire::Accepted>(client.ask(id, wire::Cancel{"p1"})));
    }
    std::latch allowed(1);
    loop_.post([&] {
        service_.allow({.units = {"new.service"}});
        const bool fits = worker_.query(0, [&] { allowed.count_down(); });
        EXPECT_TRUE(fits) << "root's queue is full";
        if (!fits) allowed.count_down();
        release.count_down();
    });
    allowed.wait();
    EXPECT_THAT(engine.allowed().units, testing::ElementsAre("new.service"));
    EXPECT_EQ(std::ranges::count(audited_events(), "plan cancelled: p1"), 1);
}

/// A plan that fails and whose steps have long texts.
model::Plan wordy_plan() {
    std::string path = "/etc";
    while (path.size() < 750) path += "/" + std::string(200, 'x');
    model::Plan plan{"wordy", own_owner(), {}};
    for (int i = 0; i < 30; ++i) {
        plan.steps.emplace_back(model::Symlink{path + std::to_string(i), "target"});
    }
    return plan;
}

TEST_F(ServiceLimitsTest, DropsAClientThatDoesNotReadAndServesTheOthers) {
    WireClient idle = greeted();
    WireClient other = greeted();
    EXPECT_EQ(refusal_in(other.ask(5, wire::Apply{wordy_plan(), {}, false})), "");
    other.ask(6, wire::Apply{own_plan("next"), {}, false});
    Result<> sent;
    std::uint32_t id = 10;
    while (sent && id < 500) {
        sent = idle.try_send(pack(id++, wire::Follow{"wordy"}));
        EXPECT_TRUE(std::holds_alternative<wire::End>(other.ask(5, wire::History{})));
    }
    EXPECT_FALSE(sent) << "never dropped";
    EXPECT_GT(id, 20U) << "dropped at once";
    EXPECT_TRUE(std::holds_alternative<wire::Hello>(other.hello()));
}

}  // namespace
}  // namespace kubexm::executor
