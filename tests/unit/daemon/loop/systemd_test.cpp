#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "daemon/base/fd.hpp"
#include "daemon/base/unix_address.hpp"
#include "daemon/loop/loop.hpp"
#include "tests/unit/daemon/loop/running_loop.hpp"
#include "tests/unit/temp_directory.hpp"

namespace kubexm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A notify socket in the place of systemd's, and the environment that names it.
class Systemd : public testing::Test {
protected:
    void SetUp() override {
        const std::string path = directory_ / "notify";
        sockaddr_un address = must(unix_address(path));
        socket_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        ASSERT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        set("NOTIFY_SOCKET", path);
    }
    void TearDown() override {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
        for (const std::string& name : names_) ::unsetenv(name.c_str());
    }

    void set(const std::string& name, const std::string& value) {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
        ASSERT_EQ(::setenv(name.c_str(), value.c_str(), 1), 0);
        names_.push_back(name);
    }
    void set_watchdog(std::chrono::microseconds period, pid_t pid) {
        set("WATCHDOG_USEC", std::to_string(period.count()));
        set("WATCHDOG_PID", std::to_string(pid));
    }
    /// The messages that arrived since the last call.
    std::vector<std::string> received() const {
        std::vector<std::string> messages;
        std::array<char, 512> buffer{};
        for (ssize_t got = 0; (got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0)) > 0;) {
            messages.emplace_back(buffer.data(), static_cast<std::size_t>(got));
        }
        return messages;
    }

private:
    TempDirectory directory_;
    Fd socket_;
    std::vector<std::string> names_;
};

TEST_F(Systemd, ReceivesNotifications) {
    notify_systemd("READY=1\nSTATUS=2 plans to resume");
    EXPECT_THAT(received(), ElementsAre("READY=1\nSTATUS=2 plans to resume"));
}

TEST_F(Systemd, WatchdogIsFedOnlyWhileHealthy) {
    constexpr std::chrono::milliseconds kPeriod(20);
    set_watchdog(kPeriod, ::getpid());
    Loop loop = make_loop();
    std::deque<bool> health{true, false, false, true, true};
    std::vector<std::size_t> received_before;  // each call of `healthy`, since the one before
    const auto started = std::chrono::steady_clock::now();
    ASSERT_TRUE(loop.feed_watchdog([&] {
        received_before.push_back(received().size());
        if (health.empty()) {
            loop.stop(0);
            return false;
        }
        const bool healthy = health.front();
        health.pop_front();
        return healthy;
    }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_THAT(received_before, ElementsAre(0, 1, 0, 0, 1, 1));
    EXPECT_THAT(received(), IsEmpty());
    EXPECT_GE(std::chrono::steady_clock::now() - started, 6 * kPeriod / 2);
}

TEST_F(Systemd, WatchdogMessageIsWatchdogEquals1) {
    set_watchdog(std::chrono::milliseconds(2), ::getpid());
    Loop loop = make_loop();
    int asked = 0;
    ASSERT_TRUE(loop.feed_watchdog([&] {
        if (++asked == 2) loop.stop(0);
        return asked == 1;
    }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_THAT(received(), ElementsAre("WATCHDOG=1"));
}

TEST_F(Systemd, HealthIsNotCheckedWithoutAWatchdog) {
    Loop loop = make_loop();
    bool asked = false;
    const auto healthy = [&asked] { return asked = true; };
    ASSERT_TRUE(loop.feed_watchdog(healthy));
    set_watchdog(std::chrono::milliseconds(2), ::getppid());  // of another process
    ASSERT_TRUE(loop.feed_watchdog(healthy));
    const auto end = must(loop.after(std::chrono::milliseconds(20), [&loop] { loop.stop(0); }));
    EXPECT_EQ(run(loop), 0);
    EXPECT_FALSE(asked);
    EXPECT_THAT(received(), IsEmpty());
}

TEST_F(Systemd, AnInvalidPeriodIsAnError) {
    set("WATCHDOG_USEC", "soon");
    Loop loop = make_loop();
    const auto refused = loop.feed_watchdog([] { return true; });
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, testing::HasSubstr("WATCHDOG_USEC"));
}

}  // namespace
}  // namespace kubexm
