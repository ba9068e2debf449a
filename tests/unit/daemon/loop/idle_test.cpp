#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "daemon/loop/loop.hpp"
#include "tests/unit/daemon/loop/running_loop.hpp"
#include "tests/unit/thread_status.hpp"

namespace kubexm {
namespace {

using namespace std::chrono_literals;

/// A loop on its own thread, with a signal, a distant timer and a cancelled timer.
class Idle : public testing::Test {
protected:
    void SetUp() override {
        ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
        signal_ = must(loop_.on_signal(SIGTERM, [] {}));
        hourly_ = must(loop_.after(1h, [] {}));
        auto cancelled = must(loop_.after(500ms, [] {}));
        cancelled.reset();
        std::promise<pid_t> started;
        thread_ = std::thread([this, &started] {
            loop_.post([&started] { started.set_value(::gettid()); });
            EXPECT_EQ(must(loop_.run()), 0);
        });
        id_ = started.get_future().get();
    }
    void TearDown() override {
        loop_.stop(0);
        thread_.join();
        ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    }

    /// Polls `condition` until it holds or the deadline has passed.
    static bool wait_until(const std::function<bool()>& condition) {
        const auto deadline = std::chrono::steady_clock::now() + kDeadline;
        while (std::chrono::steady_clock::now() < deadline) {
            if (condition()) return true;
            std::this_thread::sleep_for(20ms);
        }
        return false;
    }
    /// Returns when the thread sleeps and did not wake up since the poll before.
    void settle() const {
        long before = -1;
        EXPECT_TRUE(wait_until([&] {
            const long last = std::exchange(before, sleeps_of(id_));
            return last == before && thread_status(id_, "State").starts_with("S");
        }));
    }

    Loop loop_ = make_loop();
    std::thread thread_;
    pid_t id_ = 0;

private:
    sigset_t mask_{};
    Loop::Handle signal_;
    Loop::Handle hourly_;
};

TEST_F(Idle, DoesNotWakeUp) {
    settle();
    const long before = sleeps_of(id_);
    std::this_thread::sleep_for(1200ms);  // a measurement over more than a tick of one second
    EXPECT_EQ(sleeps_of(id_), before);
}

TEST_F(Idle, TheTestSeesATick) {
    settle();
    Loop::Handle timer;
    std::function<void()> tick = [&] { timer = must(loop_.after(20ms, tick)); };
    const long before = sleeps_of(id_);
    loop_.post(tick);
    EXPECT_TRUE(wait_until([&] { return sleeps_of(id_) > before + 3; }));
    std::promise<void> gone;
    loop_.post([&] {
        timer.reset();
        gone.set_value();
    });
    gone.get_future().wait();
}

}  // namespace
}  // namespace kubexm
