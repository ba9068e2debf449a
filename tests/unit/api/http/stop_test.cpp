#include <gmock/gmock.h>

#include <thread>

#include "tests/unit/api/http/served.hpp"

namespace kubexm::http {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Whether a client waits to be accepted.
bool has_client(const Fd& listener) {
    pollfd ready{.fd = listener.get(), .events = POLLIN, .revents = 0};
    return ::poll(&ready, 1, 0) == 1;
}

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

TEST_F(Stop, SendsPendingAnswersAndLeavesNoThread) {
    const Client busy = tcp();
    const Client idle = local();
    busy.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(busy.read_to("ok\n"), StartsWith("HTTP/1.1 200"));
    const auto port = place().server->port();
    place().server->stop();
    EXPECT_EQ(busy.read_all(), "");
    EXPECT_EQ(idle.read_all(), "");
    EXPECT_THROW(Client::tcp(port), std::runtime_error);
    EXPECT_TRUE(soon([] { return threads_of_server().empty(); }));  // /proc is updated late
    place().server->stop();                                         // has no effect
}

/// The sockets stay systemd's: what kubexmd has not accepted is the next process's.
TEST_F(Stop, AnswersWhomItAcceptedAndLeavesOthersToTheNextProcess) {
    const TempDirectory directory;
    Fd socket = listening(directory / "s");
    const Fd of_systemd{::dup(socket.get())};
    auto server = Server::start({.address = "", .socket = std::move(socket)},
                                callbacks([](const Result<>&) {}));
    ASSERT_TRUE(server);
    const Client answered = Client::local(directory / "s");
    answered.send("GET /healthz HTTP/1.1\r\n\r\n");
    EXPECT_THAT(answered.read_to("ok\n"), StartsWith("HTTP/1.1 200"));
    const Client silent = Client::local(directory / "s");
    ASSERT_TRUE(soon([&] { return !has_client(of_systemd); }));
    std::thread stop([&] { (*server)->stop(); });
    EXPECT_EQ(answered.read_all(), "") << "the stop has begun";
    const Client late = Client::local(directory / "s");
    EXPECT_THAT(ask(silent, "GET /healthz"), StartsWith("HTTP/1.1 200"));
    stop.join();
    EXPECT_TRUE(has_client(of_systemd));
}

TEST_F(Stop, OfAServerWithoutAnySocketHasNothingToDo) {
    Result<> state;
    auto server =
        Server::start({.address = ""}, callbacks([&](const Result<>& now) { state = now; }));
    ASSERT_TRUE(server);
    ASSERT_FALSE(state);
    EXPECT_THAT(state.error().what, HasSubstr("systemctl restart kubexmd.socket"));
    (*server)->stop();
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
