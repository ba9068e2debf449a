#include <gmock/gmock.h>

#include <filesystem>

#include "tests/unit/api/http/served.hpp"

namespace kubexm::http {
namespace {

using testing::StartsWith;

namespace fs = std::filesystem;

/// Listed last in CMakeLists.txt: a process has no second server.
class Stop : public Served {};

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

}  // namespace
}  // namespace kubexm::http
