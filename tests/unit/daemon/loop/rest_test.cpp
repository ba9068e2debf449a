#include "daemon/loop/rest.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/unit/daemon/loop/running_loop.hpp"

namespace kubexm {
namespace {

using namespace std::chrono_literals;

TEST(Rest, ComesOnceAfterTheLastThingThatWentOn) {
    Loop loop = make_loop();
    int rests = 0;
    Loop::Handle end;
    Rest rest(
        loop,
        [&] {
            ++rests;
            end = must(loop.after(1ms, [&loop] { loop.stop(0); }));
        },
        1s);
    rest.stir();
    rest.stir();
    const auto before = must(loop.after(500ms, [&] {
        EXPECT_EQ(rests, 0);
        rest.stir();
    }));
    const auto between = must(loop.after(1250ms, [&] { EXPECT_EQ(rests, 0) << "it was stirred"; }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_EQ(rests, 1);
}

TEST(Rest, DoesNotComeByItself) {
    Loop loop = make_loop();
    int rests = 0;
    const Rest rest(loop, [&rests] { ++rests; }, 0ms);
    const auto end = must(loop.after(10ms, [&loop] { loop.stop(0); }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_EQ(rests, 0);
}

TEST(Rest, ComesAgainAfterTheNextThing) {
    Loop loop = make_loop();
    int rests = 0;
    Rest rest(
        loop,
        [&] {
            if (++rests == 2) return loop.stop(0);
            rest.stir();
        },
        1ms);
    rest.stir();
    EXPECT_EQ(run(loop), 0);
    EXPECT_EQ(rests, 2);
}

}  // namespace
}  // namespace kubexm
