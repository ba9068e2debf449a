#include "daemon/executor/service/service.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "daemon/base/memory.hpp"
#include "daemon/base/overloaded.hpp"
#include "daemon/executor/service/plan_log.hpp"
#include "daemon/executor/service/replies.hpp"

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

constexpr std::ptrdiff_t kMaxSessionsOfUser = 16;
constexpr std::chrono::milliseconds kHearLater = 1s;

}  // namespace

Service::Service(Loop& loop, Worker& worker, Engine& engine, Options options)
    : loop_(loop),
      worker_(worker),
      engine_(engine),
      options_(std::move(options)),
      rest_(loop, trim_memory) {}

Result<> Service::listen(Fd socket) {
    socket_ = std::move(socket);
    return hear_connections();
}

Result<> Service::hear_connections() {
    auto source =
        loop_.on_io(socket_.get(), EPOLLIN, [this](std::uint32_t) { accept_connection(); });
    if (!source) return std::unexpected(source.error());
    source_ = *std::move(source);
    return {};
}

void Service::accept_connection() {
    Fd connection{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!connection && (errno == EMFILE || errno == ENFILE)) return hear_later();
    if (!connection) return;
    wire::Channel channel(std::move(connection));
    auto peer = channel.peer();
    if (!peer) return;
    const auto same_user = [&](const auto& entry) { return entry.second->peer().uid == peer->uid; };
    if (std::ranges::count_if(sessions_, same_user) >= kMaxSessionsOfUser) {
        return turn_away(std::move(channel), *peer);
    }
    const std::uint64_t number = next_session_++;
    auto session = std::make_unique<Session>(loop_, std::move(channel), *peer, number);
    auto started = session->start(
        [this](Session& from, wire::Request request, std::vector<Fd> descriptors) {
            on_request(from, std::move(request), std::move(descriptors));
        },
        [this](Session& from, const Error& why) {
            // A client that breaks the rules of the wire is written down; one that leaves is not.
            if (why.code == Code::invalid) write_down(caller_of(from), why);
            drop_later(from.number());
        });
    if (started) sessions_[number] = std::move(session);
}

/// Without a free descriptor the connection stays in the kernel, and the loop would be told of it
/// again and again.
void Service::hear_later() {
    source_.reset();
    auto later = loop_.after(kHearLater, [this] {
        if (!hear_connections()) hear_later();
    });
    if (later) listen_again_ = *std::move(later);
}

/// The connections of one user, however many and idle, do not keep others out, least of all root.
void Service::turn_away(wire::Channel channel, const wire::Peer& peer) {
    const Error why{Code::exhausted, fmt::format("user {} has {} connections already", peer.uid,
                                                 kMaxSessionsOfUser)};
    write_down({peer.uid, peer.pid}, why);
    std::ignore = channel.send(pack(refused(why)), {}, std::chrono::steady_clock::now());
}

/// Any thread. In the audit soon: one look is enough for all that wait, however many there are.
void Service::write_down(Caller caller, const Error& refusal) {
    engine_.note_refusal(caller, refusal.what);
    if (writes_down_.exchange(true)) return;
    const bool queued = worker_.query(0, [this] {
        writes_down_ = false;
        engine_.write_refusals();
    });
    if (!queued) writes_down_ = false;
}

void Service::look(Session& session, Worker::Query look) {
    const Caller caller = caller_of(session);
    if (worker_.query(caller.uid, std::move(look))) return;
    refuse(session, too_many_of(caller));
}

/// One at a time: what comes along with a plan waits with it.
bool Service::begins_offer(Session& session) {
    if (session.offering) {
        refuse(session, {Code::exhausted,
                         "the answer to your last plan is still to come: wait "
                         "for it, or use another connection"});
        return false;
    }
    return session.offering = true;
}

/// Any thread.
void Service::end_offer(const Asker& asker, wire::Reply reply) {
    loop_.post([this, number = asker.session, reply = std::move(reply)] {
        Session* session = find(number);
        if (session == nullptr) return;
        session->offering = false;
        session->send(reply);
    });
}

/// Any thread.
void Service::turn_down(const Asker& asker, const Error& why) {
    write_down(asker.caller, why);
    end_offer(asker, refused(why));
}

void Service::refuse(Session& session, const Error& why) {
    write_down(caller_of(session), why);
    session.send(refused(why));
}

void Service::on_request(Session& session, wire::Request request, std::vector<Fd> descriptors) {
    if (session.peer().uid != 0 && session.peer().uid != options_.front_uid) {
        refuse(session, {Code::denied,
                         fmt::format("user {} may not speak to the executor", session.peer().uid)});
        return drop_later(session.number());
    }
    if (!session.greeted && !std::holds_alternative<wire::Hello>(request)) {
        return refuse(session, {Code::invalid, "the first message must be a hello"});
    }
    if (!descriptors.empty() && !std::holds_alternative<wire::Apply>(request)) {
        return refuse(session, {Code::invalid, "only an apply comes with descriptors"});
    }
    std::visit(
        overloaded{
            [&](wire::Apply&& apply) { answer(session, std::move(apply), std::move(descriptors)); },
            [&](auto&& other) { answer(session, std::forward<decltype(other)>(other)); },
        },
        std::move(request));
}

void Service::tell(std::uint64_t session, wire::Reply reply) {
    loop_.post([this, session, reply = std::move(reply)] {
        if (Session* found = find(session)) found->send(reply);
    });
}

void Service::on_report(const wire::StepEvent& event) {
    if (event.progress.empty()) {  // else it is true for a moment only
        current_events_.push_back(event);
        say_status(fmt::format("Plan {}, step {}: {}.", event.plan_id, event.index, event.text));
    }
    for (auto& [number, session] : sessions_) {
        if (session->following == event.plan_id) session->send(event);
    }
}

void Service::on_end(const wire::PlanSummary& summary) {
    rest_.touch();
    current_end_ = summary;
    say_status(
        fmt::format("Ready for plans. The last one, {}, is {}.", summary.plan_id, summary.state));
    for (auto& [number, session] : sessions_) {
        if (session->following == summary.plan_id) session->send(summary);
    }
}

Session* Service::find(std::uint64_t number) {
    const auto found = sessions_.find(number);
    return found == sessions_.end() ? nullptr : found->second.get();
}

void Service::drop_later(std::uint64_t number) {
    loop_.post([this, number] { sessions_.erase(number); });
}

}  // namespace kubexm::executor
