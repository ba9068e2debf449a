#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/base/fd.hpp"
#include "daemon/loop/loop.hpp"
#include "tests/unit/daemon/loop/running_loop.hpp"

namespace kubexm {
namespace {

TEST(Post, KeepsTheOrderOfEachOfManyThreads) {
    constexpr int kThreads = 8;
    constexpr int kEach = 2000;
    Loop loop = make_loop();
    std::vector<int> last(kThreads, 0);  // touched by the loop's thread alone
    int disorder = 0;
    int finished = 0;
    const auto note = [&](int thread, int number) {
        if (number != last.at(static_cast<std::size_t>(thread)) + 1) ++disorder;
        last.at(static_cast<std::size_t>(thread)) = number;
        if (number == kEach && ++finished == kThreads) loop.stop(0);
    };
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&loop, &note, thread] {
            for (int i = 1; i <= kEach; ++i) loop.post([&note, thread, i] { note(thread, i); });
        });
    }
    EXPECT_EQ(run(loop), 0);
    EXPECT_EQ(last, std::vector<int>(kThreads, kEach));
    EXPECT_EQ(disorder, 0);
}

TEST(Post, ALongQueueDoesNotStarveDescriptors) {
    constexpr int kPosted = 10000;
    Loop loop = make_loop();
    int since_io = 0;
    int longest = 0;
    const Fd ready{::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)};  // always readable
    const auto io = must(loop.on_io(ready.get(), EPOLLIN, [&](std::uint32_t) {
        longest = std::max(longest, std::exchange(since_io, 0));
    }));
    for (int i = 0; i < kPosted; ++i) loop.post([&since_io] { ++since_io; });
    loop.post([&] {
        longest = std::max(longest, since_io);
        loop.stop(0);
    });
    EXPECT_EQ(run(loop), 0);
    EXPECT_GT(longest, 0);
    EXPECT_LT(longest, kPosted / 20);
}

TEST(Post, ACallbackThatPostsItselfDoesNotStarveDescriptors) {
    Loop loop = make_loop();
    const Fd ready{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    const auto io =
        must(loop.on_io(ready.get(), EPOLLIN, [&loop](std::uint32_t) { loop.stop(5); }));
    std::function<void()> again = [&] {
        ::eventfd_write(ready.get(), 1);
        loop.post(again);
    };
    loop.post(again);
    EXPECT_EQ(run(loop), 5);
}

TEST(Post, ACallbackCanPostAnother) {
    Loop loop = make_loop();
    loop.post([&loop] { loop.post([&loop] { loop.stop(6); }); });
    EXPECT_EQ(run(loop), 6);
}

TEST(Stop, WorksFromAnotherThread) {
    Loop loop = make_loop();
    const std::jthread thread([&loop] { loop.stop(4); });
    EXPECT_EQ(run(loop), 4);
}

TEST(Stop, RunsEarlierCallbacksAndDropsLaterOnes) {
    Loop loop = make_loop();
    std::vector<int> ran;
    loop.post([&ran] { ran.push_back(1); });
    loop.stop(7);
    loop.post([&ran] { ran.push_back(2); });
    loop.stop(8);
    EXPECT_EQ(run(loop), 7);
    EXPECT_EQ(ran, std::vector<int>{1});
}

TEST(Stop, ACallbackThatNeverRanIsReleased) {
    auto guard = std::make_shared<int>(1);
    {
        Loop loop = make_loop();
        loop.stop(0);
        EXPECT_EQ(run(loop), 0);
        loop.post([guard] { FAIL() << "the loop has ended"; });
        EXPECT_EQ(guard.use_count(), 2);
    }
    EXPECT_EQ(guard.use_count(), 1);
}

}  // namespace
}  // namespace kubexm
