#include "daemon/hands/executor/worker.hpp"

#include <gtest/gtest.h>

#include <future>
#include <tuple>
#include <vector>

namespace kubexm::hands {
namespace {

TEST(Worker, DoesPlansOneAfterTheOther) {
    std::vector<int> order;
    std::promise<void> done;
    {
        Worker worker;
        for (int i = 0; i < 3; ++i) {
            EXPECT_TRUE(worker.plan([&order, i] { order.push_back(i); }));
        }
        worker.plan([&] { done.set_value(); });
        done.get_future().wait();
    }
    EXPECT_EQ(order, (std::vector{0, 1, 2}));
}

TEST(Worker, ServesLooksBetweenTheStepsOfAPlan) {
    std::promise<void> began;
    std::promise<void> asked;
    bool looked = false;
    bool seen_in_plan = false;
    std::promise<void> ended;
    Worker worker;
    worker.plan([&] {
        began.set_value();
        asked.get_future().wait();
        worker.serve_looks();
        seen_in_plan = looked;
        ended.set_value();
    });
    began.get_future().wait();
    worker.look([&looked] { looked = true; });
    asked.set_value();
    ended.get_future().wait();
    EXPECT_TRUE(seen_in_plan);
}

TEST(Worker, StopReachesTheRunningPlanAndNotTheNext) {
    std::promise<void> began;
    std::promise<bool> next_stopped;
    Worker worker;
    worker.plan([&] {
        const Stop stop = worker.begin_plan("a");
        began.set_value();
        while (!stop.cancel.stop_requested()) std::this_thread::yield();
        EXPECT_TRUE(worker.stop_plan("a")) << "again, while it has not ended";
        next_stopped.set_value(worker.begin_plan("b").cancel.stop_requested());
    });
    began.get_future().wait();
    EXPECT_FALSE(worker.stop_plan("b")) << "it does not run yet";
    EXPECT_TRUE(worker.stop_plan("a"));
    EXPECT_FALSE(next_stopped.get_future().get());
}

TEST(Worker, HasNothingToStopWhenNoPlanRuns) {
    std::promise<void> looked;
    Worker worker;
    worker.plan([&] { std::ignore = worker.begin_plan("a"); });
    worker.plan([&] { looked.set_value(); });
    looked.get_future().wait();
    EXPECT_FALSE(worker.stop_plan("a")) << "it ended";
    EXPECT_FALSE(worker.stop_plan(""));
}

TEST(Worker, RefusesAPlanTooMany) {
    std::promise<void> began;
    std::promise<void> release;
    Worker worker;
    worker.plan([&] {
        began.set_value();
        release.get_future().wait();
    });
    began.get_future().wait();
    int taken = 0;
    while (taken < 100 && worker.plan([] {})) ++taken;
    release.set_value();
    EXPECT_EQ(taken, 4);
}

TEST(Worker, IsAliveWhileItWaits) {
    const Worker worker;
    EXPECT_TRUE(worker.alive());
}

}  // namespace
}  // namespace kubexm::hands
