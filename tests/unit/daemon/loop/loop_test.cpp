#include "daemon/loop/loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <vector>

#include "daemon/base/fd.hpp"
#include "tests/unit/daemon/loop/running_loop.hpp"

namespace kubexm {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::ElementsAre;

struct Connection {
    Connection() {
        std::array<int, 2> ends{-1, -1};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
        ours.reset(ends[0]);
        theirs.reset(ends[1]);
    }
    Fd ours;
    Fd theirs;
};

TEST(Loop, ATimerFiresOnceNotEarlyAndReleasesItsCallback) {
    Loop loop = make_loop();
    const auto started = Clock::now();
    const auto guard = std::make_shared<int>(0);
    Loop::Handle end;
    const auto timer = must(loop.after(20ms, [&, guard] {
        EXPECT_GE(Clock::now() - started, 20ms);
        ++*guard;
        end = must(loop.after(20ms, [&loop] { loop.stop(0); }));
    }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_EQ(*guard, 1);
    EXPECT_EQ(guard.use_count(), 1);
}

TEST(Loop, AnEndlessDelayNeverFires) {
    Loop loop = make_loop();
    const auto never = must(loop.after(std::chrono::milliseconds::max(), [] { FAIL(); }));
    const auto end = must(loop.after(1ms, [&loop] { loop.stop(0); }));
    EXPECT_EQ(run(loop), 0);
}

TEST(Loop, ADroppedTimerDoesNotFire) {
    Loop loop = make_loop();
    bool fired = false;
    auto dropped = must(loop.after(1ms, [&fired] { fired = true; }));
    dropped.reset();
    const auto end = must(loop.after(5ms, [&loop] { loop.stop(0); }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_FALSE(fired);
}

TEST(Loop, ATimerCanDropItselfAndSetTheNext) {
    Loop loop = make_loop();
    Loop::Handle timer;
    auto guard = std::make_shared<int>(7);
    timer = must(loop.after(1ms, [&, guard] {
        timer.reset();
        EXPECT_EQ(*guard, 7);  // the captured object is still alive
        timer = must(loop.after(1ms, [&loop] { loop.stop(3); }));
    }));
    EXPECT_EQ(run(loop), 3);
}

TEST(Loop, DroppingATimerDropsTheTimerItOwns) {
    Loop loop = make_loop();
    bool fired = false;
    auto inner = must(loop.after(1ms, [&fired] { fired = true; }));
    auto outer = must(loop.after(1ms, [owned = std::move(inner)] {}));
    outer.reset();
    const auto end = must(loop.after(5ms, [&loop] { loop.stop(0); }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_FALSE(fired);
}

TEST(Loop, AHandleCanOutliveItsLoop) {
    Loop::Handle timer;
    Loop::Handle io;
    const Connection connection;
    {
        Loop loop = make_loop();
        timer = must(loop.after(1ms, [] {}));
        io = must(loop.on_io(connection.ours.get(), EPOLLIN, [](std::uint32_t) {}));
    }
    timer.reset();
    io.reset();
}

TEST(Loop, ReportsTheEventsOfADescriptor) {
    Loop loop = make_loop();
    Connection connection;
    std::vector<std::uint32_t> seen;
    Loop::Handle io;
    io = must(loop.on_io(connection.ours.get(), EPOLLIN, [&](std::uint32_t events) {
        seen.push_back(events & (EPOLLIN | EPOLLHUP));
        char byte = 0;
        if (::read(connection.ours.get(), &byte, 1) == 1) return connection.theirs.reset();
        io.reset();
        loop.stop(0);
    }));
    ASSERT_EQ(::write(connection.theirs.get(), "x", 1), 1);
    EXPECT_EQ(run(loop), 0);
    EXPECT_THAT(seen, ElementsAre(EPOLLIN, EPOLLIN | EPOLLHUP));
}

TEST(Loop, ASourceCanRemoveItselfAndCloseItsDescriptor) {
    Loop loop = make_loop();
    Connection connection;
    Loop::Handle io;
    int calls = 0;
    auto guard = std::make_shared<int>(7);
    io = must(loop.on_io(connection.ours.get(), EPOLLIN, [&, guard](std::uint32_t) {
        io.reset();
        connection.ours.reset();
        calls += *guard;
    }));
    ASSERT_EQ(::write(connection.theirs.get(), "x", 1), 1);
    const auto end = must(loop.after(20ms, [&loop] { loop.stop(0); }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_EQ(calls, 7);
    EXPECT_EQ(guard.use_count(), 1);  // the callback was destroyed
}

TEST(Loop, RejectsAnInvalidDescriptor) {
    Loop loop = make_loop();
    const auto refused = loop.on_io(-1, EPOLLIN, [](std::uint32_t) {});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, testing::HasSubstr("watch descriptor -1"));
}

TEST(Loop, ReceivesTheSignalsOfTheProcess) {
    sigset_t before;
    ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &before), 0);
    Loop loop = make_loop();
    std::vector<int> got;
    const auto reload = must(loop.on_signal(SIGHUP, [&got] {
        got.push_back(SIGHUP);
        ::kill(::getpid(), SIGTERM);
    }));
    const auto terminate = must(loop.on_signal(SIGTERM, [&] {
        got.push_back(SIGTERM);
        loop.stop(0);
    }));
    const auto send = must(loop.after(0ms, [] { ::kill(::getpid(), SIGHUP); }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_THAT(got, ElementsAre(SIGHUP, SIGTERM));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Loop, ASignalHasOneListener) {
    sigset_t before;
    ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &before), 0);
    Loop loop = make_loop();
    const auto first = must(loop.on_signal(SIGUSR1, [] {}));
    const auto second = loop.on_signal(SIGUSR1, [] {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::conflict);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace kubexm
