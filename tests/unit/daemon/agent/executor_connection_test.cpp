#include "daemon/agent/executor_connection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "daemon/base/unix_address.hpp"
#include "tests/unit/temp_directory.hpp"

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

/// Answers every request as the test says.
class FakeExecutor {
public:
    using Answer = std::function<wire::Reply(const wire::Request&)>;

    FakeExecutor(Loop& loop, const std::string& path, Answer answer)
        : loop_(loop), path_(path), answer_(std::move(answer)) {
        socket_ = Fd{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
        auto address = unix_address(path).value();
        EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
        EXPECT_EQ(::listen(socket_.get(), 4), 0);
        source_ = *loop_.on_io(socket_.get(), EPOLLIN, [this](std::uint32_t) { accept(); });
    }
    ~FakeExecutor() { std::filesystem::remove(path_); }
    FakeExecutor(const FakeExecutor&) = delete;
    FakeExecutor& operator=(const FakeExecutor&) = delete;

    void hang_up() {
        client_source_.reset();
        client_.reset();
    }

private:
    void accept() {
        const auto& client =
            client_.emplace(Fd{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)});
        client_source_ = *loop_.on_io(client.fd(), EPOLLIN, [this](std::uint32_t) { reply(); });
    }
    void reply() {
        const auto now = std::chrono::steady_clock::now();
        if (!client_) return;
        auto frame = client_->receive(now);
        if (!frame) return hang_up();
        auto request = wire::unpack_request(frame->text);
        ASSERT_TRUE(request) << request.error().what;
        EXPECT_TRUE(client_->send(pack(answer_(*request)), {}, now + 1s));
    }

    Loop& loop_;
    std::string path_;
    Answer answer_;
    Fd socket_;
    std::optional<wire::Channel> client_;
    Loop::Handle source_;
    Loop::Handle client_source_;
};

wire::Reply friendly(const wire::Request& request) {
    if (std::holds_alternative<wire::Hello>(request)) {
        return wire::Hello{wire::kProtocol, "executor"};
    }
    return wire::Observation{{}, {"machine-1"}, ""};
}

class ExecutorConnectionTest : public testing::Test {
protected:
    ExecutorConnectionTest()
        : connection_(loop_, socket_, "test",
                      {[this](const Result<>& connected) { on_change(connected); },
                       [this](const wire::Reply& reply) { on_reply(reply); }}) {
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
        if (seen != nullptr) owners_ = seen->owners;
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
    loop_.post([this] { EXPECT_TRUE(connection_.send(wire::Observe{})); });
    run_until(99);
    EXPECT_THAT(changes_, ElementsAre("connected"));
    EXPECT_THAT(owners_, ElementsAre("machine-1"));
}

TEST_F(ExecutorConnectionTest, RetriesUntilTheSocketExists) {
    if (::geteuid() != 0) GTEST_SKIP() << "the peer must be a process of root";
    connection_.start();
    ASSERT_EQ(changes_.size(), 1U);
    EXPECT_THAT(changes_.at(0), HasSubstr(socket_));
    EXPECT_FALSE(connection_.send(wire::Observe{}));
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
        return wire::Refused{"invalid", "install the same version of both"};
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
