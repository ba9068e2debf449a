#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "tests/unit/api/http/served.hpp"

namespace {

/// Whether a thread that has woken another one loses its processor for a moment.
std::atomic<bool> g_others_run_first = false;
constexpr std::chrono::milliseconds kMoment(300);

}  // namespace

/// In place of the C library's: Drogon's threads wake each other with it.
extern "C" ssize_t write(int fd, const void* bytes, size_t size) {
    const ssize_t written = ::syscall(SYS_write, fd, bytes, size);
    const bool is_wakeup = size == sizeof(std::uint64_t);  // of an eventfd
    if (is_wakeup && g_others_run_first) std::this_thread::sleep_for(kMoment);
    return written;
}

namespace kubexm::http {
namespace {

using testing::StartsWith;

class Start : public Served {};

/// systemd's sockets outlive a restart, and their clients wait.
TEST_F(Start, IsNotHeldUpByClientsThatWaitForIt) {
    if (place_.server) GTEST_SKIP() << "needs a process of its own";
    Fd socket = listening(place_.socket());
    Fd control = listening(place_.control());
    std::optional<Client> waits = Client::local(place_.socket());
    waits->send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    g_others_run_first = true;
    auto started = std::async(std::launch::async, [&] {
        return Server::start(
            {.address = "", .socket = std::move(socket), .control = std::move(control)},
            callbacks([](const Result<>&) {}));
    });
    EXPECT_THAT(waits->read_all(), StartsWith("HTTP/1.1 200"));
    waits.reset();
    const bool has_started = started.wait_for(kDeadline) == std::future_status::ready;
    g_others_run_first = false;
    EXPECT_TRUE(has_started);
    if (!has_started) Client::local(place_.socket());  // wakes it up
    place_.server = started.get().value();
    place_.server->stop();
}

}  // namespace
}  // namespace kubexm::http
