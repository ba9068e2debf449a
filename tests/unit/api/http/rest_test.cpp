#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/unit/api/http/served.hpp"

namespace kubexm::http {
namespace {

using namespace std::chrono_literals;
using testing::StartsWith;

namespace fs = std::filesystem;

/// How often the threads of the server went to sleep: once more for each time something woke one
/// up.
long sleeps() {
    long sum = 0;
    for (const auto& thread : threads_of_server()) {
        std::ifstream status(thread / "status");
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with("voluntary_ctxt_switches:")) sum += std::stol(line.substr(24));
        }
    }
    return sum;
}

/// Nothing to wait for here: that nothing happens is the question.
long wakeups_within(std::chrono::milliseconds span) {
    const long before = sleeps();
    std::this_thread::sleep_for(span);
    return sleeps() - before;
}

void settle() {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (wakeups_within(1200ms) != 0) {  // longer than between two ticks of Drogon's timers
        if (std::chrono::steady_clock::now() > deadline) FAIL() << "it does not come to rest";
    }
}

long descriptors() {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

TEST_F(Served, NothingWakesUpWhileNobodyAsks) {
    EXPECT_THAT(get("/healthz"), StartsWith("HTTP/1.1 200"));
    settle();
    EXPECT_EQ(wakeups_within(10'500ms), 0);  // trantor's loops wake up every ten seconds
}

TEST_F(Served, AClientWhoIsConnectedWouldBeSeenToWakeItUp) {
    const Client client = tcp();
    client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client.read_to("ok\n");
    EXPECT_GT(wakeups_within(2500ms), 0);  // Drogon's one-second timers
}

TEST_F(Served, NothingIsLeftOfClientsWhoWent) {
    get("/healthz");
    settle();
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
