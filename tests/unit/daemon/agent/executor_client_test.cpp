#include "daemon/agent/executor_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fake_executor.hpp"
#include "tests/unit/temp_directory.hpp"

namespace kubexm::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// A follow is not answered, a history with two replies, the rest as by a friendly executor.
std::vector<wire::Reply> slow(const wire::Request& request) {
    if (std::holds_alternative<wire::Follow>(request)) return {};
    if (std::holds_alternative<wire::History>(request)) {
        return {wire::PlanSummary{.plan_id = "p1"}, wire::End{}};
    }
    if (std::holds_alternative<wire::Cancel>(request)) {
        return {wire::Refused{"not_found", "plan p0 is not running"}};
    }
    return friendly(request);
}

class ExecutorClientTest : public testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "the peer must be a process of root";
    }
    /// Notes what a request is answered with.
    void ask(const std::string& name, wire::Request request) {
        client_.ask(std::move(request), {}, [this, name](const Result<wire::Reply>& reply) {
            if (reply) {
                const auto type = std::visit([](const auto& each) { return each.kType; }, *reply);
                seen_.push_back(name + ": " + std::string(type));
            } else {
                seen_.push_back(name + ": " + std::string(name_of(reply.error().code)) + ": " +
                                reply.error().what);
            }
            if (seen_.size() == enough_) loop_.stop(0);
        });
    }
    void run_until_seen(std::size_t count) {
        enough_ = count;
        client_.start();
        auto late = loop_.after(20s, [this] { loop_.stop(1); });
        EXPECT_EQ(loop_.run().value_or(-1), 0) << "timeout";
    }

    TempDirectory directory_;
    std::string socket_ = directory_ / "executor.sock";
    Loop loop_ = *Loop::create();
    std::vector<std::string> seen_;
    std::size_t enough_ = 0;
    bool connected_ = false;
    ExecutorClient client_{loop_, socket_, "test",
                           [this](const Result<>& now) { connected_ = now.has_value(); }};
};

TEST_F(ExecutorClientTest, AnswersOthersWhileAPlanIsFollowed) {
    const FakeExecutor executor(loop_, socket_, slow);
    ask("follow", wire::Follow{"p1"});
    ask("history", wire::History{});
    ask("observe", wire::Observe{});
    run_until_seen(3);
    EXPECT_THAT(seen_,
                ElementsAre("history: plan-summary", "history: end", "observe: observation"));
}

TEST_F(ExecutorClientTest, ARefusalEndsItsOwnRequest) {
    const FakeExecutor executor(loop_, socket_, slow);
    ask("cancel", wire::Cancel{"p0"});
    ask("observe", wire::Observe{});
    run_until_seen(2);
    EXPECT_THAT(seen_,
                ElementsAre("cancel: not_found: plan p0 is not running", "observe: observation"));
}

TEST_F(ExecutorClientTest, ALostConnectionEndsEveryOpenRequest) {
    FakeExecutor executor(loop_, socket_, slow);
    ask("follow", wire::Follow{"p1"});
    ask("follow", wire::Follow{"p2"});
    client_.ask(wire::Observe{}, {}, [&](const Result<wire::Reply>&) { executor.hang_up(); });
    run_until_seen(2);
    EXPECT_THAT(seen_, ElementsAre(StartsWith("follow: unavailable: "),
                                   StartsWith("follow: unavailable: ")));
}

TEST_F(ExecutorClientTest, ALostConnectionIsKnownBeforeItsRequestsFail) {
    FakeExecutor executor(loop_, socket_, slow);
    client_.ask(wire::Follow{"p1"}, {}, [&](const Result<wire::Reply>&) {
        seen_.emplace_back(connected_ ? "connected" : "lost");
        loop_.stop(0);
    });
    client_.ask(wire::Observe{}, {}, [&](const Result<wire::Reply>&) { executor.hang_up(); });
    run_until_seen(1);
    EXPECT_THAT(seen_, ElementsAre("lost"));
}

TEST_F(ExecutorClientTest, AFailedAttemptToConnectEndsWaitingRequests) {
    ask("observe", wire::Observe{});
    run_until_seen(1);
    EXPECT_THAT(seen_, ElementsAre(StartsWith("observe: unavailable: ")));
}

TEST_F(ExecutorClientTest, ARequestThatIsTooLargeEndsAlone) {
    const FakeExecutor executor(loop_, socket_, slow);
    const std::vector<std::string> digests(4000, std::string(64, 'a'));
    ask("apply", wire::Apply{{"p", "o", {}}, digests, false});
    ask("observe", wire::Observe{});
    run_until_seen(2);
    EXPECT_THAT(seen_, ElementsAre(HasSubstr("apply: invalid: request: expected at most"),
                                   "observe: observation"));
}

/// More than a socket holds, sent at once.
TEST_F(ExecutorClientTest, WaitsForSpaceInTheSocket) {
    const FakeExecutor executor(loop_, socket_, slow);
    const std::vector<std::string> digests(200, std::string(64, 'a'));
    for (int i = 0; i < 100; ++i) ask("apply", wire::Apply{{"p", "o", {}}, digests, false});
    run_until_seen(100);
    EXPECT_THAT(seen_, testing::Each("apply: observation"));
}

}  // namespace
}  // namespace kubexm::agent
