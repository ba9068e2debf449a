#include "daemon/agent/executor_connection.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include "daemon/base/try.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

constexpr auto kHelloDeadline = 20s;  // systemd may have to start the executor first

Deadline no_wait() { return std::chrono::steady_clock::now(); }

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
    channel_ = std::move(channel);
    TRY(watch(EPOLLIN));
    timer_ = TRY(loop_.after(kHelloDeadline, [this] {
        disconnect({Code::timeout, fmt::format("{}: no Hello from the executor", socket_)});
    }));
    return send(kHelloId, wire::Hello{wire::kProtocol, program_});
}

Result<> ExecutorConnection::watch(std::uint32_t events) {
    source_.reset();
    if (!channel_) return {};
    source_ =
        TRY(loop_.on_io(channel_->fd(), events, [this](std::uint32_t ready) { on_io(ready); }));
    return {};
}

Result<> ExecutorConnection::send(std::uint32_t id, const wire::Request& request,
                                  std::vector<Fd> descriptors) {
    if (!channel_) return fail(Code::unavailable, socket_ + ": not connected");
    std::string text = pack(id, request);
    if (text.size() > wire::kMaxFrame || descriptors.size() > wire::kMaxDescriptors) {
        return fail(
            Code::invalid,
            fmt::format("request: expected at most {} bytes and {} descriptors, found {} "
                        "and {}",
                        wire::kMaxFrame, wire::kMaxDescriptors, text.size(), descriptors.size()));
    }
    waiting_.push_back({std::move(text), std::move(descriptors)});
    if (waiting_.size() == 1) write_waiting();
    return {};
}

void ExecutorConnection::write_waiting() {
    auto written = write_some();
    if (written) return;
    waiting_.clear();
    // A closed connection is found by reading, with the reason that the executor may have sent.
    if (written.error().code == Code::unavailable) return;
    // Later: the sender of a request does not expect to be called back.
    loop_.post([this, why = written.error()] {
        if (channel_) disconnect(why);
    });
}

Result<> ExecutorConnection::write_some() {
    while (channel_ && !waiting_.empty()) {
        std::vector<int> descriptors;
        for (const Fd& each : waiting_.front().descriptors) descriptors.push_back(each.get());
        auto sent = channel_->send(waiting_.front().text, descriptors, no_wait());
        if (!sent && sent.error().code == Code::timeout) return want_write(true);
        if (!sent) return sent;
        waiting_.pop_front();
    }
    return want_write(false);
}

/// Watches for EPOLLOUT only while requests wait: a socket is nearly always writable.
Result<> ExecutorConnection::want_write(bool wanted) {
    if (wanted == wants_write_ || !channel_) return {};
    wants_write_ = wanted;
    return watch(wanted ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void ExecutorConnection::on_io(std::uint32_t events) {
    if ((events & EPOLLOUT) != 0) write_waiting();
    if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) on_readable();
}

void ExecutorConnection::on_readable() {
    if (!channel_) return;
    auto frame = channel_->receive(no_wait());
    if (!frame && frame.error().code == Code::timeout) return;
    if (!frame) return disconnect(frame.error());
    auto reply = wire::unpack_reply(frame->text, std::move(frame->descriptors));
    if (!reply) return disconnect(reply.error());
    receive(*reply);
}

void ExecutorConnection::receive(const wire::NumberedReply& reply) {
    const auto* refused = std::get_if<wire::Refused>(&reply.reply);
    const bool of_connection = !greeted_ || reply.id == 0;
    if (refused != nullptr && of_connection) return disconnect({Code::denied, refused->what});
    if (greeted_) return listener_.on_reply(reply);
    greeted_ = true;
    timer_.reset();
    backoff_.reset();
    listener_.on_change({});
}

void ExecutorConnection::disconnect(const Error& why) {
    source_.reset();
    channel_.reset();
    waiting_.clear();
    wants_write_ = false;
    greeted_ = false;
    listener_.on_change(std::unexpected(why));
    retry_later();
}

void ExecutorConnection::retry_later() {
    auto timer = loop_.after(backoff_.next(/*jitter=*/0), [this] { start(); });
    if (timer) timer_ = *std::move(timer);
}

}  // namespace kubexm::agent
