#include "daemon/executor/service/session.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include "daemon/base/try.hpp"
#include "daemon/executor/service/replies.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kMaxWaitingBytes = std::size_t{4} << 20U;

wire::Channel::Deadline immediately() { return std::chrono::steady_clock::now(); }

/// Refuses instead of a reply that is too large for a frame: the client waits for an answer.
std::string pack_bounded(const wire::Reply& reply) {
    std::string text = pack(reply);
    if (text.size() <= wire::kMaxFrame) return text;
    return pack(refused(
        {Code::exhausted, fmt::format("reply: expected at most {} bytes, found {}; request less",
                                      wire::kMaxFrame, text.size())}));
}

}  // namespace

Session::Session(Loop& loop, wire::Channel channel, wire::Peer peer, std::uint64_t number)
    : loop_(loop), channel_(std::move(channel)), peer_(peer), number_(number) {}

Result<> Session::start(OnRequest on_request, OnClose on_close) {
    on_request_ = std::move(on_request);
    on_close_ = std::move(on_close);
    return watch(EPOLLIN);
}

Result<> Session::watch(std::uint32_t events) {
    source_.reset();
    source_ =
        TRY(loop_.on_io(channel_.fd(), events, [this](std::uint32_t ready) { on_io(ready); }));
    return {};
}

void Session::on_io(std::uint32_t events) {
    if ((events & EPOLLOUT) != 0) write_waiting();
    if (!closed_ && (events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) read_one();
}

void Session::read_one() {
    auto frame = channel_.receive(immediately());
    if (!frame && frame.error().code == Code::timeout) return;
    if (!frame) return close_with_reply(frame.error());
    auto request = wire::unpack_request(frame->text);
    if (!request) return close_with_reply(request.error());
    on_request_(*this, *std::move(request), std::move(frame->descriptors));
}

void Session::send(const wire::Reply& reply) {
    if (closed_ || peer_closed_) return;
    waiting_.push_back(pack_bounded(reply));
    waiting_bytes_ += waiting_.back().size();
    if (waiting_bytes_ > kMaxWaitingBytes) {
        return close({Code::exhausted, fmt::format("client: more than {} bytes of unread replies",
                                                   kMaxWaitingBytes)});
    }
    if (waiting_.size() == 1) write_waiting();
}

void Session::write_waiting() {
    while (!waiting_.empty()) {
        auto sent = channel_.send(waiting_.front(), {}, immediately());
        if (!sent && sent.error().code == Code::timeout) return want_write(true);
        if (!sent) {
            // Requests that the client sent before it closed are still read.
            peer_closed_ = true;
            waiting_.clear();
            break;
        }
        waiting_bytes_ -= waiting_.front().size();
        waiting_.pop_front();
    }
    want_write(false);
}

/// Watches for EPOLLOUT only while replies wait: a socket is nearly always writable.
void Session::want_write(bool wanted) {
    if (wanted == wants_write_) return;
    wants_write_ = wanted;
    auto again = watch(wanted ? EPOLLIN | EPOLLOUT : EPOLLIN);
    if (!again) close(again.error());
}

/// A client that violates the protocol gets the reason first.
void Session::close_with_reply(const Error& why) {
    if (why.code == Code::invalid) send(refused(why));
    close(why);
}

/// The owner destroys the session later, outside of its callbacks.
void Session::close(const Error& why) {
    if (closed_) return;
    closed_ = true;
    source_.reset();
    on_close_(*this, why);
}

}  // namespace kubexm::executor
