#include <fmt/format.h>

#include "daemon/base/digest.hpp"
#include "service_host.hpp"
#include "tests/unit/daemon/agent/harness/simulated_time.hpp"

// Undos that failed are tried again, for every owner.

namespace kubexm::executor {
namespace {

using model::PlanState;

/// Before the service, whose timers it has.
struct WithTime {
    agent::SimulatedTime time_;
};

/// Links of several owners in place of files of somebody else. Their undos fail while the vault has
/// lost the content of these files.
class UndoRetryTest : WithTime, public ServiceHost {
protected:
    static constexpr int kOwners = 6;  // more than fit into the worker's queue

    UndoRetryTest() : ServiceHost(must(Loop::create(time_.timers()))) {}

    static std::string name_of(int owner) { return fmt::format("machine-{}", owner); }
    static std::string path_of(int owner) { return "/etc/of-" + name_of(owner); }
    static std::string content(int owner) { return "somebody's " + name_of(owner); }
    void fail_undo_of(int owner) {
        const std::string name = name_of(owner);
        put(scratch_.at(path_of(owner)), content(owner));
        EXPECT_THAT(applied({"join-" + name, name, {model::Symlink{path_of(owner), "x"}}}),
                    IsState(PlanState::done));
        const std::string blob = state() + "/content/" + sha256(content(owner));
        fs::rename(blob, state() + "/lost");
        auto undo = engine.accept_undo("undo-" + name, name, kAgentCaller);
        ASSERT_THAT(undo, IsOk());
        EXPECT_THAT(carried_out(*undo), IsState(PlanState::failed));
        fs::rename(state() + "/lost", blob);
    }
    void fail_undos() {
        for (int owner = 1; owner <= kOwners; ++owner) fail_undo_of(owner);
    }
    /// On the worker, which has the engine.
    void fail_undos_meanwhile() {
        std::latch done(1);
        ASSERT_TRUE(worker_.query(0, [&] {
            fail_undos();
            done.count_down();
        }));
        done.wait();
    }
    void advance(std::chrono::seconds time) {
        loop_.post([this, time] { time_.advance(time, [] {}); });
    }
    /// The plans that a subscriber sees end, until each owner has had one.
    static std::set<std::string> undone_owners(WireClient& watching) {
        std::set<std::string> owners;
        while (owners.size() < kOwners) {
            const auto event = watching.received();
            const auto* plan = std::get_if<wire::PlanSummary>(&event.reply);
            if (plan != nullptr && plan->state == PlanState::undone) owners.insert(plan->owner);
        }
        return owners;
    }
    WireClient subscribed() {
        WireClient client = greeted();
        client.send(5, wire::Subscribe{});
        EXPECT_TRUE(std::holds_alternative<wire::Hello>(client.hello()));
        return client;
    }
};

TEST_F(UndoRetryTest, OfEveryOwnerAtTheStart) {
    fail_undos();
    hold_worker();
    WireClient watching = subscribed();
    release_worker();
    EXPECT_EQ(undone_owners(watching).size(), kOwners);
    EXPECT_EQ(content_of(scratch_.at(path_of(1))), content(1));
}

TEST_F(UndoRetryTest, OfEveryOwnerAfterAnHour) {
    WireClient watching = subscribed();
    EXPECT_EQ(std::get<wire::Observation>(watching.ask(6, wire::Observe{})).owners.size(), 0U);
    fail_undos_meanwhile();
    advance(std::chrono::hours(1));
    EXPECT_EQ(undone_owners(watching).size(), kOwners);
    EXPECT_EQ(content_of(scratch_.at(path_of(kOwners))), content(kOwners));
}

}  // namespace
}  // namespace kubexm::executor
