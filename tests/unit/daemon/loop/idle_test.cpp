#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <future>
#include <string>
#include <thread>

#include "daemon/loop/loop.hpp"
#include "tests/unit/daemon/loop/running_loop.hpp"

namespace kubexm {
namespace {

using namespace std::chrono_literals;

/// A line of the kernel's account of a thread of ours: "State" is "S (sleeping)".
std::string status_of(pid_t thread, const std::string& name) {
    std::ifstream file(fmt::format("/proc/self/task/{}/status", thread));
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
    }
    return "";
}

/// How often a thread went to sleep by itself: once more for each time something woke it up.
long sleeps_of(pid_t thread) { return std::stol(status_of(thread, "voluntary_ctxt_switches")); }

/// A loop with everything a daemon has, on a thread of its own.
class Idle : public testing::Test {
protected:
    void SetUp() override {
        ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
        signal_ = must(loop_.on_signal(SIGTERM, [] {}));
        hourly_ = must(loop_.after(1h, [] {}));
        auto cancelled = must(loop_.after(500ms, [] {}));
        cancelled.reset();
        std::promise<pid_t> began;
        thread_ = std::thread([this, &began] {
            loop_.post([&began] { began.set_value(::gettid()); });
            EXPECT_EQ(must(loop_.run()), 0);
        });
        id_ = began.get_future().get();
    }
    void TearDown() override {
        loop_.stop(0);
        thread_.join();
        ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    }

    /// Returns when the loop has nothing more to do.
    void settle() const {
        const auto deadline = std::chrono::steady_clock::now() + kDeadline;
        for (long before = -1; std::chrono::steady_clock::now() < deadline;) {
            const long sleeps = sleeps_of(id_);
            if (sleeps == before && status_of(id_, "State").starts_with("S")) return;
            before = sleeps;
            std::this_thread::sleep_for(20ms);
        }
        FAIL() << "the loop does not come to rest";
    }
    /// Nothing to wait for here: that nothing happens is the question.
    long wakeups_within(std::chrono::milliseconds span) const {
        const long before = sleeps_of(id_);
        std::this_thread::sleep_for(span);
        return sleeps_of(id_) - before;
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
    EXPECT_EQ(wakeups_within(1200ms), 0);  // longer than the one-second ticks other loops have
}

TEST_F(Idle, ATickWouldBeSeen) {
    settle();
    Loop::Handle timer;
    std::function<void()> tick = [&] { timer = must(loop_.after(20ms, tick)); };
    loop_.post(tick);
    EXPECT_GT(wakeups_within(500ms), 3);
    std::promise<void> gone;
    loop_.post([&] {
        timer.reset();
        gone.set_value();
    });
    gone.get_future().wait();
}

}  // namespace
}  // namespace kubexm
