#pragma once

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "daemon/base/unix_address.hpp"
#include "daemon/executor/wire/channel.hpp"
#include "daemon/executor/wire/messages.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::agent {

using namespace std::chrono_literals;

/// Answers every request as the test says.
class FakeExecutor {
public:
    /// All replies but the last say that more follow.
    using Answer = std::function<std::vector<wire::Reply>(const wire::Request&)>;

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
        auto [id, request] = wire::unpack_request(frame->text);
        ASSERT_TRUE(request) << request.error().what;
        const auto replies = answer_(*request);
        for (std::size_t i = 0; client_ && i < replies.size(); ++i) {
            const auto part = i + 1 == replies.size() ? wire::Part::last : wire::Part::more;
            EXPECT_TRUE(client_->send(pack(id, replies[i], part), {}, now + 1s));
        }
    }

    Loop& loop_;
    std::string path_;
    Answer answer_;
    Fd socket_;
    std::optional<wire::Channel> client_;
    Loop::Handle source_;
    Loop::Handle client_source_;
};

inline std::vector<wire::Reply> friendly(const wire::Request& request) {
    if (std::holds_alternative<wire::Hello>(request)) {
        return {wire::Hello{wire::kProtocol, "executor"}};
    }
    return {wire::Observation{{}, {{"machine-1", 1, {}}}, ""}};
}

}  // namespace kubexm::agent
