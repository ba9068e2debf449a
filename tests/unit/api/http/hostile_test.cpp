#include <gmock/gmock.h>

#include <chrono>
#include <list>
#include <random>

#include "tests/unit/api/http/served.hpp"

namespace kubexm::http {
namespace {

using testing::AnyOf;
using testing::IsEmpty;
using testing::StartsWith;

/// A hostile client must neither stop the server nor block the next client.
class Hostile : public Served {
protected:
    /// Over TCP only after the server has noticed the closed connections.
    void TearDown() override {
        EXPECT_THAT(ask(local(), "GET /healthz"), StartsWith("HTTP/1.1 200 "));
        const auto deadline = std::chrono::steady_clock::now() + kDeadline;
        while (!get("/healthz").starts_with("HTTP/1.1 200 ")) {
            ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "after the hostile client";
        }
    }
};

TEST_F(Hostile, AHugeHeaderIsRefused) {
    const Client client = tcp();
    client.send("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(200'000, 'x'));
    EXPECT_THAT(client.read_all(), AnyOf(IsEmpty(), StartsWith("HTTP/1.1 4")));
}

TEST_F(Hostile, EndlessHeadersAreRefused) {
    const Client client = tcp();
    std::size_t taken = 0;
    const std::string header = "X-1: " + std::string(1000, 'x') + "\r\n";
    client.send("GET / HTTP/1.1\r\n");
    while (taken < 50'000'000 && client.send(header)) taken += header.size();
    EXPECT_LT(taken, 50'000'000U);
}

TEST_F(Hostile, AHugeBodyIsRefused) {
    const Client client = tcp();
    client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n");
    EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 413 "));
}

TEST_F(Hostile, AnInvalidChunkLengthIsRefused) {
    for (const char* length : {"-1", "-2", "-3", "7fffffffffffffff", "ffffffffffffffff"}) {
        const Client client = tcp();
        client.send(
            "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked"
            "\r\n\r\n5\r\nhello\r\n" +
            std::string(length) + "\r\nxx\r\n0\r\n\r\n");
        ::shutdown(client.fd(), SHUT_WR);
        EXPECT_THAT(client.read_all(), AnyOf(IsEmpty(), StartsWith("HTTP/1.1 4"))) << length;
    }
}

TEST_F(Hostile, GarbageIsRefused) {
    std::minstd_rand random(1);
    for (int i = 0; i < 200; ++i) {
        const Client client = i % 2 == 0 ? tcp() : local();
        std::string bytes = i % 3 == 0 ? "GET / HTTP/1.1\r\n" : "";
        for (int n = 0; n < 300; ++n) bytes += static_cast<char>(random());
        client.send(bytes);
        ::shutdown(client.fd(), SHUT_WR);
        EXPECT_THAT(client.read_all(), AnyOf(IsEmpty(), StartsWith("HTTP/1.1 4"))) << i;
    }
}

TEST_F(Hostile, PipelinedRequestsAreLimited) {
    const Client client = tcp();
    std::string requests;
    for (int i = 0; i < 1000; ++i) requests += "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    client.send(requests);
    EXPECT_LT(client.read_all().size(), 300'000U);
}

TEST_F(Hostile, UnreadAnswersAreLimited) {
    const Client client = tcp();
    const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int answered = 0;
    while (answered < 100'000 && client.send(request)) ++answered;
    EXPECT_LT(answered, 100'000);
}

TEST_F(Hostile, ConnectionsOfAListenerAreLimited) {
    std::list<Client> clients;
    for (int i = 0; i < 100; ++i) {
        clients.push_back(tcp());
        clients.back().send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    int answered = 0;
    for (const Client& client : clients) answered += client.read_to("ok\n").empty() ? 0 : 1;
    EXPECT_EQ(answered, 32);
    EXPECT_THAT(ask(local(), "GET /healthz"), StartsWith("HTTP/1.1 200 ")) << "the other listener";
}

TEST_F(Hostile, ASlowRequestIsClosedAfterTheIdleTimeout) {
    const Client client = tcp();
    client.send("GET / HTTP/1.1\r\n");
    const auto begun = std::chrono::steady_clock::now();
    // Single headers must not restart the timeout.
    while (client.send("X: y\r\n") && std::chrono::steady_clock::now() < begun + kDeadline) {
        pollfd closed{.fd = client.fd(), .events = POLLRDHUP, .revents = 0};
        ::poll(&closed, 1, 200);
    }
    EXPECT_LT(std::chrono::steady_clock::now(), begun + kDeadline);
}

}  // namespace
}  // namespace kubexm::http
