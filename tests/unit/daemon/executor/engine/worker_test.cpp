#include "daemon/executor/engine/worker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <tuple>
#include <vector>

namespace kubexm::executor {
namespace {

constexpr std::uint32_t kUser = 998;

TEST(Worker, RunsPlansInOrder) {
    std::vector<int> order;
    std::promise<void> done;
    {
        Worker worker;
        for (int i = 0; i < 3; ++i) {
            EXPECT_TRUE(worker.plan(0, [&order, i] { order.push_back(i); }));
        }
        worker.plan(0, [&] { done.set_value(); });
        done.get_future().wait();
    }
    EXPECT_EQ(order, (std::vector{0, 1, 2}));
}

TEST(Worker, ServesQueriesBetweenTheStepsOfAPlan) {
    std::promise<void> began;
    std::promise<void> asked;
    bool queried = false;
    bool seen_in_plan = false;
    std::promise<void> ended;
    Worker worker;
    worker.plan(0, [&] {
        began.set_value();
        asked.get_future().wait();
        worker.serve_queries();
        seen_in_plan = queried;
        ended.set_value();
    });
    began.get_future().wait();
    worker.query(0, [&queried] { queried = true; });
    asked.set_value();
    ended.get_future().wait();
    EXPECT_TRUE(seen_in_plan);
}

TEST(Worker, StopReachesTheRunningPlanAndNotTheNext) {
    std::promise<void> began;
    std::promise<bool> next_stopped;
    Worker worker;
    worker.plan(0, [&] {
        const Stop stop = worker.begin_plan("a", kUser);
        began.set_value();
        while (!stop.cancel.stop_requested()) std::this_thread::yield();
        EXPECT_TRUE(worker.stop_plan("a", kUser)) << "a second time, before the plan ended";
        next_stopped.set_value(worker.begin_plan("b", kUser).cancel.stop_requested());
    });
    began.get_future().wait();
    EXPECT_FALSE(worker.stop_plan("b", kUser)) << "not running yet";
    EXPECT_TRUE(worker.stop_plan("a", kUser));
    EXPECT_FALSE(next_stopped.get_future().get());
}

TEST(Worker, StopsNothingWhenNoPlanRuns) {
    std::promise<void> queried;
    Worker worker;
    worker.plan(0, [&] { std::ignore = worker.begin_plan("a", kUser); });
    worker.plan(0, [&] { queried.set_value(); });
    queried.get_future().wait();
    EXPECT_FALSE(worker.stop_plan("a", kUser)) << "ended";
    EXPECT_FALSE(worker.stop_plan("", 0));
}

TEST(Worker, StopsAPlanOfRootForRootOnly) {
    std::promise<void> began;
    std::promise<void> asked;
    std::promise<bool> stopped;
    Worker worker;
    worker.plan(0, [&] {
        const Stop stop = worker.begin_plan("a", 0);
        began.set_value();
        asked.get_future().wait();
        worker.stop_plan_for(kUser);
        stopped.set_value(stop.cancel.stop_requested());
        worker.stop_plan_for(0);
        EXPECT_TRUE(stop.cancel.stop_requested());
    });
    began.get_future().wait();
    EXPECT_EQ(worker.stop_plan("a", kUser).error().code, Code::denied);
    asked.set_value();
    EXPECT_FALSE(stopped.get_future().get());
}

/// A worker that runs a plan until release.
class BusyWorker : public testing::Test {
protected:
    BusyWorker() {
        worker.plan(0, [this] {
            began.set_value();
            release.get_future().wait();
        });
        began.get_future().wait();
    }
    ~BusyWorker() override {
        if (!released) let_go();
    }
    void let_go() {
        released = true;
        release.set_value();
    }
    /// The number of plans that the queue accepts.
    int plans_of(std::uint32_t user) {
        int taken = 0;
        while (taken < 100 && worker.plan(user, [] {})) ++taken;
        return taken;
    }
    int queries_of(std::uint32_t user) {
        int taken = 0;
        while (taken < 100 && worker.query(user, [this, user] { order.push_back(user); })) ++taken;
        return taken;
    }

    std::promise<void> began;
    std::promise<void> release;
    bool released = false;
    std::vector<std::uint32_t> order;
    Worker worker;  // last: uses the others
};

TEST_F(BusyWorker, ReservesAPlaceForAPlanOfRoot) {
    EXPECT_EQ(plans_of(998), 3);
    EXPECT_EQ(plans_of(0), 1);
    EXPECT_EQ(plans_of(0), 0);
}

TEST_F(BusyWorker, DropsWhatWaitsForOthersWhenRootAsks) {
    std::vector<std::string> done;
    std::promise<void> last;
    const auto note = [&](const char* what) { return [&done, what] { done.emplace_back(what); }; };
    worker.plan(kUser, note("first"), note("first dropped"));
    worker.plan(0, note("our own"));
    worker.plan(kUser, note("second"), note("second dropped"));
    EXPECT_TRUE(worker.plan_of_root(note("root's")));
    EXPECT_TRUE(worker.plan_of_root([&] { last.set_value(); }));
    let_go();
    last.get_future().wait();
    EXPECT_EQ(done,
              (std::vector<std::string>{"first dropped", "second dropped", "our own", "root's"}));
}

TEST_F(BusyWorker, HasALimitForRootToo) {
    int taken = 0;
    while (taken < 100 && worker.plan_of_root([] {})) ++taken;
    EXPECT_EQ(taken, 4);
}

TEST_F(BusyWorker, ServesTheQueriesOfAllUsersInTurn) {
    EXPECT_EQ(queries_of(998), 32);
    EXPECT_TRUE(worker.query(0, [this] { order.push_back(0); }));
    std::promise<std::vector<std::uint32_t>> served;
    worker.plan(0, [&] { served.set_value(order); });
    let_go();
    const auto before_the_plan = served.get_future().get();
    EXPECT_EQ(before_the_plan.size(), 8) << "the plan does not wait for all of them";
    EXPECT_EQ(std::ranges::count(before_the_plan, 0U), 1);
}

}  // namespace
}  // namespace kubexm::executor
