#include "daemon/loop/idle_timer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/unit/daemon/loop/running_loop.hpp"

namespace kubexm {
namespace {

using namespace std::chrono_literals;

TEST(IdleTimer, CallsBackOnceAPeriodAfterTheLastTouch) {
    constexpr auto kPeriod = 40ms;
    Loop loop = make_loop();
    int calls = 0;
    std::chrono::steady_clock::time_point touched;
    Loop::Handle end;
    IdleTimer timer(
        loop,
        [&] {
            ++calls;
            EXPECT_GE(std::chrono::steady_clock::now(), touched + kPeriod);
            end = must(loop.after(2 * kPeriod, [&loop] { loop.stop(0); }));
        },
        kPeriod);
    timer.touch();
    std::this_thread::sleep_for(kPeriod / 2);  // a touch within the period
    touched = std::chrono::steady_clock::now();
    timer.touch();
    EXPECT_EQ(run(loop), 0);
    EXPECT_EQ(calls, 1);
}

TEST(IdleTimer, DoesNotCallBackBeforeTheFirstTouch) {
    Loop loop = make_loop();
    int calls = 0;
    const IdleTimer timer(loop, [&calls] { ++calls; }, 0ms);
    const auto end = must(loop.after(10ms, [&loop] { loop.stop(0); }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_EQ(calls, 0);
}

TEST(IdleTimer, CallsBackAgainAfterTheNextTouch) {
    Loop loop = make_loop();
    int calls = 0;
    IdleTimer timer(
        loop,
        [&] {
            if (++calls == 2) return loop.stop(0);
            timer.touch();
        },
        1ms);
    timer.touch();
    EXPECT_EQ(run(loop), 0);
    EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace kubexm
