#include "daemon/loop/idle_timer.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/unit/daemon/loop/running_loop.hpp"

namespace kubexm {
namespace {

using namespace std::chrono_literals;

TEST(IdleTimer, ComesOnceAfterTheLastThingThatWentOn) {
    Loop loop = make_loop();
    int rests = 0;
    Loop::Handle end;
    IdleTimer rest(
        loop,
        [&] {
            ++rests;
            end = must(loop.after(1ms, [&loop] { loop.stop(0); }));
        },
        1s);
    rest.touch();
    rest.touch();
    const auto before = must(loop.after(500ms, [&] {
        EXPECT_EQ(rests, 0);
        rest.touch();
    }));
    const auto between = must(loop.after(1250ms, [&] { EXPECT_EQ(rests, 0) << "it was stirred"; }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_EQ(rests, 1);
}

TEST(IdleTimer, DoesNotComeByItself) {
    Loop loop = make_loop();
    int rests = 0;
    const IdleTimer rest(loop, [&rests] { ++rests; }, 0ms);
    const auto end = must(loop.after(10ms, [&loop] { loop.stop(0); }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_EQ(rests, 0);
}

TEST(IdleTimer, ComesAgainAfterTheNextThing) {
    Loop loop = make_loop();
    int rests = 0;
    IdleTimer rest(
        loop,
        [&] {
            if (++rests == 2) return loop.stop(0);
            rest.touch();
        },
        1ms);
    rest.touch();
    EXPECT_EQ(run(loop), 0);
    EXPECT_EQ(rests, 2);
}

}  // namespace
}  // namespace kubexm
