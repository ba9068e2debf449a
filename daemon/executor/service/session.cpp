#include "daemon/executor/service/session.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include "daemon/executor/service/replies.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kMaxWaitingBytes = std::size_t{4} << 20U;

wire::Channel::Deadline at_once() { return std::chrono::steady_clock::now(); }

/// A reply that no frame holds would never arrive, and its client would wait for it.
std::string fitting(const wire::Reply& reply) {
    std::string text = pack(reply);
    if (text.size() <= wire::kMaxFrame) return text;
    return pack(
        refused({Code::exhausted,
                 fmt::format("the answer has {} bytes, at most {} can be sent: ask for less",
                             text.size(), wire::kMaxFrame)}));
}

}  // namespace

Session::Session(Loop& loop, wire::Channel channel, wire::Peer peer, std::uint64_t number)
    : loop_(loop), channel_(std::move(channel)), peer_(peer), number_(number) {}

Result<> Session::start(OnRequest on_request, OnClose on_close) {
    on_request_ = std::move(on_request);
    on_close_ = std::move(on_close);
    return listen_for(EPOLLIN);
}

Result<> Session::listen_for(std::uint32_t events) {
    source_.reset();
    auto source =
        loop_.on_io(channel_.fd(), events, [this](std::uint32_t happened) { on_io(happened); });
    if (!source) return std::unexpected(source.error());
    source_ = *std::move(source);
    return {};
}

void Session::on_io(std::uint32_t events) {
    if ((events & EPOLLOUT) != 0) write_waiting();
    if (!closed_ && (events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) read_one();
}

void Session::read_one() {
    auto frame = channel_.receive(at_once());
    if (!frame && frame.error().code == Code::timeout) return;
    if (!frame) return part(frame.error());
    auto request = wire::unpack_request(frame->text);
    if (!request) return part(request.error());
    on_request_(*this, *std::move(request), std::move(frame->descriptors));
}

void Session::send(const wire::Reply& reply) {
    if (closed_ || unheard_) return;
    waiting_.push_back(fitting(reply));
    waiting_bytes_ += waiting_.back().size();
    if (waiting_bytes_ > kMaxWaitingBytes) {
        return close({Code::exhausted, "the client does not read its replies"});
    }
    if (waiting_.size() == 1) write_waiting();
}

void Session::write_waiting() {
    while (!waiting_.empty()) {
        auto sent = channel_.send(waiting_.front(), {}, at_once());
        if (!sent && sent.error().code == Code::timeout) return want_write(true);
        if (!sent) {
            // It left, but what it sent before it did is still to be read.
            unheard_ = true;
            waiting_.clear();
            break;
        }
        waiting_bytes_ -= waiting_.front().size();
        waiting_.pop_front();
    }
    want_write(false);
}

/// Listens for room to write only while something waits for it: there nearly always is some.
void Session::want_write(bool wanted) {
    if (wanted == wants_write_) return;
    wants_write_ = wanted;
    auto again = listen_for(wanted ? EPOLLIN | EPOLLOUT : EPOLLIN);
    if (!again) close(again.error());
}

/// The last word to a client that broke the rules of the wire is why.
void Session::part(const Error& why) {
    if (why.code == Code::invalid) send(refused(why));
    close(why);
}

/// The owner drops us soon, from outside of our own callbacks.
void Session::close(const Error& why) {
    if (closed_) return;
    closed_ = true;
    source_.reset();
    on_close_(*this, why);
}

}  // namespace kubexm::executor
