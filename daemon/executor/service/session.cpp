#include "daemon/executor/service/session.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <array>
#include <numeric>

#include "daemon/base/try.hpp"
#include "daemon/executor/service/replies.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kMaxWaitingBytes = std::size_t{4} << 20U;

Deadline immediately() { return std::chrono::steady_clock::now(); }

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
    if (!frame) return close_with_reply(0, frame.error());
    auto [id, request] = wire::unpack_request(frame->text);
    if (id != 0 && !open_.try_emplace(id).second) {
        return close_with_reply(
            0, {Code::invalid, fmt::format("frame.id: request {} has no last reply yet", id)});
    }
    if (!request) return close_with_reply(id, request.error());
    on_request_(*this, id, *std::move(request), std::move(frame->descriptors));
}

OpenRequest* Session::find(std::uint32_t id) {
    const auto found = open_.find(id);
    return found == open_.end() ? nullptr : &found->second;
}

std::size_t Session::waiting_descriptors() const {
    return std::accumulate(
        open_.begin(), open_.end(), std::size_t{0},
        [](std::size_t sum, const auto& entry) { return sum + entry.second.descriptors; });
}

void Session::send_to(const Wanted& wanted, const wire::Reply& reply, wire::Part part) {
    std::vector<std::uint32_t> ids;
    for (const auto& [id, request] : open_) {
        if (wanted(request)) ids.push_back(id);
    }
    for (const std::uint32_t id : ids) send(id, reply, part);
}

void Session::send(std::uint32_t id, const wire::Reply& reply, wire::Part part) {
    if (find(id) == nullptr) return;
    std::string frame = pack(id, reply, part);
    if (part == wire::Part::last) open_.erase(id);
    queue(std::move(frame), content_of(reply));
}

void Session::queue(std::string frame, std::shared_ptr<const Fd> content) {
    if (closed_ || peer_closed_) return;
    waiting_bytes_ += frame.size();
    waiting_.push_back({std::move(frame), std::move(content)});
    if (waiting_bytes_ > kMaxWaitingBytes) {
        return close({Code::exhausted, fmt::format("client: more than {} bytes of unread replies",
                                                   kMaxWaitingBytes)});
    }
    if (waiting_.size() == 1) write_waiting();
}

Result<> Session::write(const Outgoing& next) {
    if (!next.content) return channel_.send(next.frame, {}, immediately());
    const std::array descriptors{next.content->get()};
    return channel_.send(next.frame, descriptors, immediately());
}

void Session::write_waiting() {
    while (!waiting_.empty()) {
        auto sent = write(waiting_.front());
        if (!sent && sent.error().code == Code::timeout) return want_write(true);
        if (!sent) {
            // Requests that the client sent before it closed are still read.
            peer_closed_ = true;
            waiting_.clear();
            break;
        }
        waiting_bytes_ -= waiting_.front().frame.size();
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
void Session::close_with_reply(std::uint32_t id, const Error& why) {
    if (why.code == Code::invalid) queue(pack(id, refused(why), wire::Part::last));
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
