#include "daemon/agent/executor_connection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "fake_executor.hpp"
#include "tests/unit/temp_directory.hpp"

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class ExecutorConnectionTest : public testing::Test {
protected:
    ExecutorConnectionTest()
        : connection_(loop_, socket_, "test",
                      {[this](const Result<>& connected) { on_change(connected); },
                       [this](const wire::NumberedReply& reply) { on_reply(reply.reply); }}) {
        // Users other than root must be able to bind here.
        std::filesystem::permissions(directory_.path(), std::filesystem::perms::all);
    }

    void on_change(const Result<>& connected) {
        changes_.push_back(connected ? "connected" : connected.error().what);
        if (changes_.size() == 1 && after_first_) after_first_();
        if (changes_.size() == enough_) loop_.stop(0);
    }
    void on_reply(const wire::Reply& reply) {
        const auto* seen = std::get_if<wire::Observation>(&reply);
        if (seen != nullptr) {
            for (const auto& owner : seen->owners) owners_.push_back(owner.name);
        }
        loop_.stop(0);
    }
    void run_until(std::size_t changes) {
        enough_ = changes;
        auto late = loop_.after(20s, [this] { loop_.stop(1); });
        EXPECT_EQ(loop_.run().value_or(-1), 0) << "timeout";
    }

    TempDirectory directory_;
    std::string socket_ = directory_ / "executor.sock";
    Loop loop_ = *Loop::create();
    std::vector<std::string> changes_;
    std::vector<std::string> owners_;
    std::size_t enough_ = 0;
    std::function<void()> after_first_;
    ExecutorConnection connection_;
};

TEST_F(ExecutorConnectionTest, SendsAHelloAndRequests) {
    if (::geteuid() != 0) GTEST_SKIP() << "the peer must be a process of root";
    const FakeExecutor executor(loop_, socket_, friendly);
    connection_.start();
    loop_.post([this] { EXPECT_TRUE(connection_.send(7, wire::Observe{})); });
    run_until(99);
    EXPECT_THAT(changes_, ElementsAre("connected"));
    EXPECT_THAT(owners_, ElementsAre("machine-1"));
}

TEST_F(ExecutorConnectionTest, RetriesUntilTheSocketExists) {
    if (::geteuid() != 0) GTEST_SKIP() << "the peer must be a process of root";
    connection_.start();
    ASSERT_EQ(changes_.size(), 1U);
    EXPECT_THAT(changes_.at(0), HasSubstr(socket_));
    EXPECT_FALSE(connection_.send(7, wire::Observe{}));
    const FakeExecutor executor(loop_, socket_, friendly);
    run_until(2);
    EXPECT_EQ(changes_.back(), "connected");
}

TEST_F(ExecutorConnectionTest, ReconnectsAfterTheExecutorClosed) {
    if (::geteuid() != 0) GTEST_SKIP() << "the peer must be a process of root";
    FakeExecutor executor(loop_, socket_, friendly);
    after_first_ = [&] { executor.hang_up(); };
    connection_.start();
    run_until(3);
    EXPECT_THAT(changes_, ElementsAre("connected", HasSubstr("closed"), "connected"));
}

TEST_F(ExecutorConnectionTest, ReportsTheRefusalOfAnotherVersion) {
    if (::geteuid() != 0) GTEST_SKIP() << "the peer must be a process of root";
    const FakeExecutor executor(loop_, socket_, [](const wire::Request&) {
        return std::vector<wire::Reply>{
            wire::Refused{"invalid", "install the same version of both"}};
    });
    connection_.start();
    run_until(1);
    EXPECT_THAT(changes_, ElementsAre("install the same version of both"));
}

TEST_F(ExecutorConnectionTest, RefusesAPeerThatIsNotRoot) {
    const bool root = ::geteuid() == 0;
    if (root) {
        ASSERT_EQ(::seteuid(65534), 0);
    }
    const FakeExecutor executor(loop_, socket_, friendly);
    if (root) {
        ASSERT_EQ(::seteuid(0), 0);
    }
    connection_.start();
    EXPECT_THAT(changes_, ElementsAre(HasSubstr("expected a process of root")));
}

}  // namespace
}  // namespace kubexm::agent
