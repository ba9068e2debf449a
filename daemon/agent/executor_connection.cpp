#include "daemon/agent/executor_connection.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include "daemon/base/try.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

constexpr auto kHelloDeadline = 20s;  // systemd may have to start the executor first

wire::Channel::Deadline no_wait() { return std::chrono::steady_clock::now(); }

}  // namespace

ExecutorConnection::ExecutorConnection(Loop& loop, std::string socket, std::string program,
                                       Listener listener)
    : loop_(loop),
      socket_(std::move(socket)),
      program_(std::move(program)),
      listener_(std::move(listener)),
      backoff_(500ms, 60s) {}

void ExecutorConnection::start() {
    if (auto connected = connect(); !connected) disconnect(connected.error());
}

Result<> ExecutorConnection::check_peer(const wire::Channel& channel) const {
    const wire::Peer peer = TRY(channel.peer());
    if (peer.uid == 0) return {};
    return fail(Code::denied, fmt::format("{}: expected a process of root, found one of user {}",
                                          socket_, peer.uid));
}

Result<> ExecutorConnection::connect() {
    wire::Channel channel = TRY(wire::Channel::connect(socket_));
    TRY(check_peer(channel));
    auto source = TRY(loop_.on_io(channel.fd(), EPOLLIN, [this](std::uint32_t) { on_readable(); }));
    timer_ = TRY(loop_.after(kHelloDeadline, [this] {
        disconnect({Code::timeout, fmt::format("{}: no Hello from the executor", socket_)});
    }));
    channel_ = std::move(channel);
    source_ = std::move(source);
    return send(wire::Hello{wire::kProtocol, program_});
}

Result<> ExecutorConnection::send(const wire::Request& request, std::span<const int> descriptors) {
    if (!channel_) return fail(Code::unavailable, socket_ + ": not connected");
    return channel_->send(pack(request), descriptors, no_wait());
}

void ExecutorConnection::on_readable() {
    if (!channel_) return;
    auto frame = channel_->receive(no_wait());
    if (!frame && frame.error().code == Code::timeout) return;
    if (!frame) return disconnect(frame.error());
    auto reply = wire::unpack_reply(frame->text);
    if (!reply) return disconnect(reply.error());
    receive(*reply);
}

void ExecutorConnection::receive(const wire::Reply& reply) {
    if (greeted_) return listener_.on_reply(reply);
    if (const auto* refused = std::get_if<wire::Refused>(&reply)) {
        return disconnect({Code::denied, refused->what});
    }
    greeted_ = true;
    timer_.reset();
    backoff_.reset();
    listener_.on_change({});
}

void ExecutorConnection::disconnect(const Error& why) {
    source_.reset();
    channel_.reset();
    greeted_ = false;
    listener_.on_change(std::unexpected(why));
    retry_later();
}

void ExecutorConnection::retry_later() {
    auto timer = loop_.after(backoff_.next(/*jitter=*/0), [this] { start(); });
    if (timer) timer_ = *std::move(timer);
}

}  // namespace kubexm::agent
