#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/unit/api/http/served.hpp"
#include "tests/unit/thread_status.hpp"

namespace kubexm::http {
namespace {

using testing::StartsWith;

namespace fs = std::filesystem;

long sleeps_of_server() {
    long sum = 0;
    for (const pid_t thread : threads_of_server()) sum += sleeps_of(thread);
    return sum;
}

bool is_idle() {
    const long before = sleeps_of_server();
    // A measurement over this period: Drogon's timers tick each second.
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    return sleeps_of_server() == before;
}

long descriptors() {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

TEST_F(Served, NoThreadWakesUpWithoutConnections) {
    EXPECT_THAT(get("/healthz"), StartsWith("HTTP/1.1 200"));
    EXPECT_TRUE(soon(is_idle));
    const long before = sleeps_of_server();
    get("/healthz");
    EXPECT_TRUE(soon([&] { return sleeps_of_server() > before; })) << "a wakeup must be counted";
}

TEST_F(Served, ClosedConnectionsLeaveNoDescriptors) {
    get("/healthz");
    ASSERT_TRUE(soon(is_idle));
    const long before = descriptors();
    for (int i = 0; i < 50; ++i) {
        const Client client = i % 2 == 0 ? tcp() : local();
        client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        client.read_to("ok\n");
    }
    EXPECT_TRUE(soon([&] { return descriptors() == before; })) << descriptors();
}

}  // namespace
}  // namespace kubexm::http
