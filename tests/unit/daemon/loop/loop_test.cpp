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

TEST(Loop, TimersFireInTheOrderTheyAreDue) {
    Loop loop = make_loop();
    std::vector<int> fired;
    std::vector<Loop::Handle> timers;
    const auto note_after = [&](std::chrono::milliseconds delay, int number) {
        timers.push_back(must(loop.after(delay, [&fired, number] { fired.push_back(number); })));
    };
    note_after(40ms, 4);
    note_after(10ms, 1);
    note_after(30ms, 3);
    note_after(20ms, 2);
    note_after(-5ms, 0);
    // All of them are due when the loop first looks: their order is still that of their times.
    const auto all_due = Clock::now() + 41ms;
    while (Clock::now() < all_due) {
    }
    timers.push_back(must(loop.after(0ms, [&loop] { loop.stop(0); })));
    EXPECT_EQ(run(loop), 0);
    EXPECT_THAT(fired, ElementsAre(0, 1, 2, 3, 4));
}

TEST(Loop, ATimerFiresOnceAndNotBeforeItsTime) {
    Loop loop = make_loop();
    const auto started = Clock::now();
    int fired = 0;
    const auto timer = must(loop.after(20ms, [&] {
        ++fired;
        EXPECT_GE(Clock::now() - started, 20ms);
    }));
    const auto end = must(loop.after(60ms, [&loop] { loop.stop(0); }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_EQ(fired, 1);
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

TEST(Loop, ATimerMayDropItselfAndSetTheNext) {
    Loop loop = make_loop();
    Loop::Handle timer;
    auto guard = std::make_shared<int>(7);
    timer = must(loop.after(1ms, [&, guard] {
        timer.reset();
        EXPECT_EQ(*guard, 7);  // what the callback captured is still there
        timer = must(loop.after(1ms, [&loop] { loop.stop(3); }));
    }));
    EXPECT_EQ(run(loop), 3);
}

TEST(Loop, ATimerThatOwnsAnotherTakesItAlong) {
    Loop loop = make_loop();
    bool fired = false;
    auto inner = must(loop.after(1ms, [&fired] { fired = true; }));
    auto outer = must(loop.after(1ms, [owned = std::move(inner)] {}));
    outer.reset();
    const auto end = must(loop.after(5ms, [&loop] { loop.stop(0); }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_FALSE(fired);
}

TEST(Loop, AHandleMayOutliveItsLoop) {
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

TEST(Loop, TellsWhatADescriptorIsReadyFor) {
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

TEST(Loop, ASourceMayRemoveItselfAndCloseItsDescriptor) {
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
    const auto end = must(loop.after(500ms, [&loop] { loop.stop(0); }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_EQ(calls, 7);
    EXPECT_EQ(guard.use_count(), 1);  // and its callback is gone
}

TEST(Loop, RefusesADescriptorThatIsNone) {
    Loop loop = make_loop();
    const auto refused = loop.on_io(-1, EPOLLIN, [](std::uint32_t) {});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, testing::HasSubstr("watching descriptor -1"));
}

TEST(Loop, GetsTheSignalsOfTheProcess) {
    sigset_t before;
    ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &before), 0);
    Loop loop = make_loop();
    std::vector<int> got;
    const auto reload = must(loop.on_signal(SIGHUP, [&got] { got.push_back(SIGHUP); }));
    const auto terminate = must(loop.on_signal(SIGTERM, [&] {
        got.push_back(SIGTERM);
        loop.stop(0);
    }));
    const auto send = must(loop.after(0ms, [] { ::kill(::getpid(), SIGHUP); }));
    const auto then = must(loop.after(1ms, [] { ::kill(::getpid(), SIGTERM); }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_THAT(got, ElementsAre(SIGHUP, SIGTERM));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Loop, OneListenerForEachSignal) {
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
