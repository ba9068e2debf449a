#include <gmock/gmock.h>

#include <filesystem>

#include "tests/unit/api/http/served.hpp"

namespace kubexm::http {
namespace {

using testing::StartsWith;

namespace fs = std::filesystem;

/// A process has no second server: only the first of these tests runs in one.
class Stop : public Served {
protected:
    void SetUp() override {
        if (stopped_) GTEST_SKIP() << "needs a process of its own";
        stopped_ = true;
    }

private:
    inline static bool stopped_ = false;
};

TEST_F(Stop, SendsPendingAnswersAndLeavesNothing) {
    const Client busy = tcp();
    const Client idle = local();
    busy.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(busy.read_to("ok\n"), StartsWith("HTTP/1.1 200"));
    const auto port = place().server->port();
    place().server->stop();
    EXPECT_EQ(busy.read_all(), "");
    EXPECT_EQ(idle.read_all(), "");
    EXPECT_FALSE(fs::exists(place().socket()));
    EXPECT_THROW(Client::tcp(port), std::runtime_error);
    EXPECT_TRUE(soon([] { return threads_of_server().empty(); }));  // /proc is updated late
    place().server->stop();                                         // has no effect
}

TEST_F(Stop, DropsPendingOperations) {
    if (::getuid() != 0) GTEST_SKIP() << "operations are for root";
    const Client client = control();
    client.send(
        "POST /v1/operations HTTP/1.1\r\nHost: localhost\r\nContent-Length: 17\r\n\r\n"
        R"({"verb":"repair"})");
    auto asked = place().agent.next();
    place().server->stop();
    asked.decide("too late");
    EXPECT_EQ(client.read_all(), "");
}

}  // namespace
}  // namespace kubexm::http
