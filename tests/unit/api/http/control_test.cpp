#include <gmock/gmock.h>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <list>
#include <thread>

#include "tests/unit/api/http/served.hpp"

namespace kubexm::http {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Control : public Served {
protected:
    void SetUp() override {
        if (::getuid() != 0) GTEST_SKIP() << "operations are for root";
    }
};

TEST_F(Control, AnswersWhatTheAgentDecides) {
    EXPECT_THAT(post(control(), R"({"verb":"leave"})"),
                AllOf(StartsWith("HTTP/1.1 202 Accepted\r\n"), HasSubstr("This host leaves."),
                      HasSubstr("\"id\": \"operation-")));
    EXPECT_THAT(post(control(), R"({"verb":"adopt"})"),
                AllOf(StartsWith("HTTP/1.1 409 "), HasSubstr("not held")));
    EXPECT_THAT(post(control(), R"({"verb":"resume"})"),
                AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("later")));
    EXPECT_THAT(post(control(), R"({"verb":"dance"})"),
                AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("operation.verb: expected one of")));
}

TEST_F(Control, ReadsToo) {
    EXPECT_THAT(ask(control(), "GET /v1/status", ""), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(Control, OtherListenersAreReadOnly) {
    for (const std::string& answer :
         {post(tcp(), R"({"verb":"leave"})"), post(local(), R"({"verb":"leave"})")}) {
        EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("control.sock")));
    }
}

TEST_F(Control, PassesTheCommandWithItsOrigin) {
    const Client client = control();
    client.send(
        "POST /v1/operations HTTP/1.1\r\nHost: localhost\r\nContent-Length: 28\r\n\r\n"
        R"({"verb":"pause","for":7200} )");
    auto asked = place().agent.next();
    EXPECT_EQ(asked.command.verb, model::Verb::pause);
    EXPECT_EQ(asked.command.duration, std::chrono::hours(2));
    EXPECT_EQ(asked.command.uid, 0U);
    EXPECT_EQ(asked.command.listener, "control");
    // Meanwhile others are answered; a decision may come from any thread.
    EXPECT_THAT(get("/healthz"), StartsWith("HTTP/1.1 200"));
    asked.decide("paused");
    EXPECT_THAT(client.read_to("paused"),
                AllOf(StartsWith("HTTP/1.1 202"), HasSubstr(asked.command.id)));
    client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(client.read_to("ok\n"), HasSubstr("200 OK")) << "the connection stays usable";
}

TEST_F(Control, AnswersWithoutADecisionInTime) {
    EXPECT_THAT(post(control(), R"({"verb":"repair"})"),
                AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("no decision in time")));
    place().agent.next().decide("too late");
}

TEST_F(Control, ADecisionForAClosedConnectionIsDropped) {
    std::optional<TestAgent::Asked> asked;
    {
        const Client client = control();
        client.send(
            "POST /v1/operations HTTP/1.1\r\nHost: localhost\r\nContent-Length: 17\r\n\r\n"
            R"({"verb":"repair"})");
        asked = place().agent.next();
    }
    EXPECT_THAT(get("/healthz"), StartsWith("HTTP/1.1 200"));
    asked->decide("repaired");
    EXPECT_THAT(get("/healthz"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Control, HasConnectionsOfItsOwn) {
    std::list<Client> readers;
    for (int i = 0; i < 40; ++i) readers.push_back(local());
    EXPECT_THAT(post(control(), R"({"verb":"leave"})"), StartsWith("HTTP/1.1 202"));
}

TEST_F(Control, AnotherUserIsRefused) {
    constexpr uid_t kNobody = 65534;
    std::string answer;
    std::thread([&] {
        // Of this thread only: the system call, not the function of the C library.
        ASSERT_EQ(::chmod(place().directory.path().c_str(), 0755), 0);
        ASSERT_EQ(::chmod(place().control().c_str(), 0666), 0);
        ASSERT_EQ(::syscall(SYS_setresuid, kNobody, kNobody, kNobody), 0);
        answer = post(control(), R"({"verb":"leave"})");
    }).join();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 "));
}

TEST_F(Control, AHugeBodyIsRefused) {
    EXPECT_THAT(post(control(), R"({"verb":")" + std::string(60'000, 'x') + "\"}"),
                StartsWith("HTTP/1.1 400 "));
    EXPECT_THAT(post(control(), std::string(70'000, ' ')),
                testing::AnyOf(IsEmpty(), StartsWith("HTTP/1.1 413 ")));
}

}  // namespace
}  // namespace kubexm::http
