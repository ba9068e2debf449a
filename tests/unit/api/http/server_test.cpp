#include "api/http/server.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "api/view/view.hpp"
#include "tests/unit/api/http/served.hpp"
#include "tests/unit/thread_status.hpp"

namespace kubexm::http {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(Served, AnswersTheStatusOverTcpAndTheSocket) {
    for (const std::string& answer : {get("/v1/status"), ask(local(), "GET /v1/status", "")}) {
        EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
        EXPECT_THAT(answer, HasSubstr("content-type: application/json\r\n"));
        EXPECT_THAT(answer, ContainsRegex("etag: \"[0-9a-f]+\""));
        EXPECT_THAT(answer, Not(HasSubstr("server:")));
        EXPECT_THAT(answer, Not(HasSubstr("access-control")));
        EXPECT_EQ(body_of(answer), api::status_json(api::joining_host()));
    }
}

TEST_F(Served, NotModifiedHasNoBody) {
    const std::string first = get("/v1/status");
    const auto begin = first.find("etag: ") + 6;
    const std::string tag = first.substr(begin, first.find("\r\n", begin) - begin);
    const std::string second =
        ask(tcp(), "GET /v1/status", "Host: localhost\r\nIf-None-Match: " + tag + "\r\n");
    EXPECT_THAT(second, StartsWith("HTTP/1.1 304 Not Modified\r\n"));
    EXPECT_THAT(second, HasSubstr("etag: " + tag));
    EXPECT_THAT(second, Not(HasSubstr("content-length")));
    EXPECT_EQ(body_of(second), "");
}

TEST_F(Served, RefusalsAreProblems) {
    EXPECT_THAT(get("/x"), StartsWith("HTTP/1.1 404 "));
    EXPECT_THAT(get("/../../etc/passwd"), StartsWith("HTTP/1.1 404 "));
    EXPECT_THAT(get("/x"), HasSubstr("content-type: application/problem+json\r\n"));
    EXPECT_THAT(ask(tcp(), "POST /v1/status"), StartsWith("HTTP/1.1 405 "));
    EXPECT_THAT(ask(tcp(), "OPTIONS *"), StartsWith("HTTP/1.1 405 "));
    EXPECT_THAT(ask(tcp(), "OPTIONS /v1/status"), HasSubstr("allow: GET, HEAD\r\n"));
    EXPECT_THAT(ask(tcp(), "GET /v1/status", "Host: evil.example\r\n"),
                StartsWith("HTTP/1.1 421 Misdirected Request\r\n"));
    EXPECT_THAT(ask(tcp(), "GET /v1/status", ""), StartsWith("HTTP/1.1 421 "));
    EXPECT_THAT(ask(tcp(), "GET /",
                    "Host: localhost\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nConnection: "
                    "Upgrade\r\n"),
                StartsWith("HTTP/1.1 200 "));
}

TEST_F(Served, HeadHasNoBody) {
    const std::string head = ask(tcp(), "HEAD /v1/status");
    EXPECT_THAT(head, StartsWith("HTTP/1.1 200 "));
    EXPECT_EQ(body_of(head), "");
}

TEST_F(Served, AConnectionServesManyRequests) {
    const Client client = tcp();
    for (int i = 0; i < 20; ++i) {
        client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        EXPECT_THAT(client.read_to("ok\n"), HasSubstr("200 OK"));
    }
}

TEST_F(Served, ItsThreadsBlockAllSignals) {
    place();
    EXPECT_EQ(threads_of_server().size(), 2U);
    for (const pid_t thread : threads_of_server()) {
        // All but SIGKILL, SIGSTOP and the two of the C library.
        EXPECT_EQ(thread_status(thread, "SigBlk"), "fffffffe7ffbfeff");
    }
}

TEST_F(Served, NoUploadDirectoryIsCreated) {
    place();
    EXPECT_FALSE(std::filesystem::exists("uploads"));
}

TEST_F(Served, ASecondServerInAProcessIsRefused) {
    place();
    auto second = Server::start({.port = 0}, callbacks({}));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::invalid);
}

}  // namespace
}  // namespace kubexm::http
