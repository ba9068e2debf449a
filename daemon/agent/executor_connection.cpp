#include "daemon/agent/executor_connection.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kFirstRetry = 500ms;
constexpr std::chrono::milliseconds kSlowestRetry = 60s;
constexpr auto kGreetingDeadline = 20s;  // systemd may have to start them first

wire::Channel::Deadline at_once() { return std::chrono::steady_clock::now(); }

}  // namespace

ExecutorConnection::ExecutorConnection(Loop& loop, std::string socket, std::string program,
                                       Listener listener)
    : loop_(loop),
      socket_(std::move(socket)),
      program_(std::move(program)),
      listener_(std::move(listener)),
      delay_(kFirstRetry) {}

void ExecutorConnection::start() {
    if (auto connected = connect(); !connected) lose(connected.error());
}

Result<> ExecutorConnection::check_peer(const wire::Channel& channel) const {
    auto peer = channel.peer();
    if (!peer) return std::unexpected(peer.error());
    if (peer->uid == 0) return {};
    return fail(Code::denied,
                fmt::format("{} belongs to a process of user {}, not to the executor of root",
                            socket_, peer->uid));
}

Result<> ExecutorConnection::connect() {
    auto channel = wire::Channel::connect(socket_);
    if (!channel) return std::unexpected(channel.error());
    if (auto good = check_peer(*channel); !good) return good;
    auto source = loop_.on_io(channel->fd(), EPOLLIN, [this](std::uint32_t) { on_readable(); });
    if (!source) return std::unexpected(source.error());
    auto deadline = loop_.after(kGreetingDeadline, [this] {
        lose({Code::timeout, fmt::format("{}: the executor does not greet back", socket_)});
    });
    if (!deadline) return std::unexpected(deadline.error());
    channel_ = *std::move(channel);
    source_ = *std::move(source);
    timer_ = *std::move(deadline);
    return ask(wire::Hello{wire::kProtocol, program_});
}

Result<> ExecutorConnection::ask(const wire::Request& request, std::span<const int> descriptors) {
    if (!channel_) return fail(Code::unavailable, socket_ + ": there is no connection");
    return channel_->send(pack(request), descriptors, at_once());
}

void ExecutorConnection::on_readable() {
    if (!channel_) return;
    auto frame = channel_->receive(at_once());
    if (!frame && frame.error().code == Code::timeout) return;
    if (!frame) return lose(frame.error());
    auto reply = wire::unpack_reply(frame->text);
    if (!reply) return lose(reply.error());
    hear(*reply);
}

void ExecutorConnection::hear(const wire::Reply& reply) {
    if (greeted_) return listener_.on_reply(reply);
    if (const auto* refused = std::get_if<wire::Refused>(&reply)) {
        return lose({Code::denied, refused->what});
    }
    greeted_ = true;
    timer_.reset();
    delay_ = kFirstRetry;
    listener_.on_change({});
}

void ExecutorConnection::lose(const Error& why) {
    source_.reset();
    channel_.reset();
    greeted_ = false;
    listener_.on_change(std::unexpected(why));
    retry_later();
}

void ExecutorConnection::retry_later() {
    auto timer = loop_.after(delay_, [this] { start(); });
    if (timer) timer_ = *std::move(timer);
    delay_ = std::min(2 * delay_, kSlowestRetry);
}

}  // namespace kubexm::agent
