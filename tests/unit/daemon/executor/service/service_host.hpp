#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <latch>
#include <memory>
#include <thread>

#include "../engine/engine_host.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/unix_address.hpp"
#include "daemon/executor/service/service.hpp"
#include "tests/unit/daemon/loop/running_loop.hpp"

// The service on a socket, with a real engine on a scratch host, and clients that speak the
// protocol frame by frame.

namespace kubexm::executor {

/// The owner of plans of the user who runs the tests.
inline std::string own_owner() { return ::getuid() == 0 ? "owner" : "machine-1"; }

inline model::Plan own_plan(const std::string& id, const std::string& path = "/etc/link") {
    model::Plan plan = link_plan(id, path);
    plan.owner = own_owner();
    return plan;
}

/// The user of kubexmd, and of the tests where it is not root.
inline uid_t agent_user() { return ::getuid() == 0 ? 65533 : ::getuid(); }

constexpr auto kMore = wire::Part::more;
constexpr auto kLast = wire::Part::last;

class WireClient {
public:
    explicit WireClient(const std::string& socket)
        : channel_(must(wire::Channel::connect(socket))) {}

    void send(std::uint32_t id, const wire::Request& request,
              const std::vector<int>& descriptors = {}) {
        send_text(pack(id, request), descriptors);
    }
    void send_text(std::string_view frame, const std::vector<int>& descriptors = {}) {
        auto sent = try_send(frame, descriptors);
        EXPECT_TRUE(sent) << sent.error().what;
    }
    /// unavailable: the service has hung up.
    Result<> try_send(std::string_view frame, const std::vector<int>& descriptors = {}) {
        return channel_.send(frame, descriptors, soon());
    }
    Result<wire::NumberedReply> receive() {
        auto frame = channel_.receive(soon());
        if (!frame) return std::unexpected(frame.error());
        return wire::unpack_reply(frame->text, std::move(frame->descriptors));
    }
    wire::NumberedReply received() { return must(receive()); }
    /// The last reply to a request; those before it, and those to others, are dropped.
    wire::Reply last(std::uint32_t id) {
        for (;;) {
            auto reply = received();
            if (reply.id == id && reply.part == kLast) return reply.reply;
        }
    }
    wire::Reply ask(std::uint32_t id, const wire::Request& request) {
        send(id, request);
        return last(id);
    }
    wire::Reply hello() { return ask(1, wire::Hello{wire::kProtocol, "a test"}); }

private:
    wire::Channel channel_;
};

/// What a refusal says; empty: it is none.
inline std::string refusal_in(const wire::Reply& reply) {
    const auto* refused = std::get_if<wire::Refused>(&reply);
    return refused == nullptr ? "" : refused->code + ": " + refused->what;
}

class ServiceHost : public EngineHost {
protected:
    explicit ServiceHost(Loop loop = make_loop()) : loop_(std::move(loop)) {
        log::set_level(log::Level::error);
        Fd socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
        const sockaddr_un address = unix_address(path()).value();
        const auto* generic = reinterpret_cast<const sockaddr*>(&address);
        EXPECT_EQ(::bind(socket.get(), generic, sizeof(address)), 0);
        EXPECT_EQ(::listen(socket.get(), 32), 0);
        EXPECT_TRUE(service_.listen(std::move(socket)));
    }
    ~ServiceHost() override {
        hold_.reset();
        loop_.stop(0);
        if (thread_.joinable()) thread_.join();
        worker_.finish();
    }

    std::string path() const { return scratch_.top() / "executor.sock"; }
    void start() {
        service_.recover();
        thread_ = std::jthread([this] { std::ignore = loop_.run(); });
    }
    WireClient connected() {
        if (!thread_.joinable()) start();
        return WireClient(path());
    }
    WireClient greeted() {
        WireClient client = connected();
        EXPECT_TRUE(std::holds_alternative<wire::Hello>(client.hello()));
        return client;
    }

    WireClient greeted_as_agent() {
        if (!thread_.joinable()) start();
        fs::permissions(scratch_.top(), fs::perms::all);
        fs::permissions(path(), fs::perms::all);
        // Of this thread only; libc would change all of them.
        EXPECT_EQ(::syscall(SYS_setresuid, -1, agent_user(), -1), 0);
        WireClient client(path());
        EXPECT_EQ(::syscall(SYS_setresuid, -1, ::getuid(), -1), 0);
        EXPECT_TRUE(std::holds_alternative<wire::Hello>(client.hello()));
        return client;
    }

    /// Keeps the worker busy, so that queries and plans wait, until it is destroyed.
    class Hold {
    public:
        explicit Hold(Worker& worker) {
            auto begun = std::make_shared<std::latch>(1);
            EXPECT_TRUE(worker.query(4711, [begun, end = end_] {
                begun->count_down();
                end->wait();
            }));
            begun->wait();
        }
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;
        ~Hold() { end_->count_down(); }

    private:
        std::shared_ptr<std::latch> end_ = std::make_shared<std::latch>(1);
    };
    void hold_worker() { hold_ = std::make_unique<Hold>(worker_); }
    void release_worker() { hold_.reset(); }

    /// Ends the worker.
    std::vector<std::string> audited_events() {
        worker_.finish();
        return audit_trail();
    }

    std::unique_ptr<Hold> hold_;
    Loop loop_;
    Worker worker_;
    Service service_{
        loop_,
        worker_,
        engine,
        {agent_user(), "kubexm-executor test", [](const Result<>&) {}, "unix:path=/nonexistent"}};
    std::jthread thread_;
};

}  // namespace kubexm::executor
