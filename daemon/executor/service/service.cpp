#include "daemon/executor/service/service.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "daemon/base/memory.hpp"
#include "daemon/base/overloaded.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/service/plan_log.hpp"
#include "daemon/executor/service/replies.hpp"

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

constexpr std::ptrdiff_t kMaxSessionsOfUser = 16;
constexpr std::chrono::milliseconds kAcceptRetry = 1s;

}  // namespace

Service::Service(Loop& loop, Worker& worker, Engine& engine, Options options)
    : loop_(loop),
      worker_(worker),
      engine_(engine),
      options_(std::move(options)),
      idle_(loop, trim_memory) {}

Result<> Service::listen(Fd socket) {
    socket_ = std::move(socket);
    return watch_socket();
}

Result<> Service::watch_socket() {
    source_ =
        TRY(loop_.on_io(socket_.get(), EPOLLIN, [this](std::uint32_t) { accept_connection(); }));
    return {};
}

void Service::accept_connection() {
    Fd connection{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!connection && (errno == EMFILE || errno == ENFILE)) return watch_socket_later();
    if (!connection) return;
    wire::Channel channel(std::move(connection));
    auto peer = channel.peer();
    if (!peer) return;
    const auto same_user = [&](const auto& entry) { return entry.second->peer().uid == peer->uid; };
    if (std::ranges::count_if(sessions_, same_user) >= kMaxSessionsOfUser) {
        return reject(std::move(channel), *peer);
    }
    const std::uint64_t number = next_session_++;
    auto session = std::make_unique<Session>(loop_, std::move(channel), *peer, number);
    auto started = session->start(
        [this](Session& from, wire::Request request, std::vector<Fd> descriptors) {
            on_request(from, std::move(request), std::move(descriptors));
        },
        [this](Session& from, const Error& why) {
            if (why.code == Code::invalid) audit_refusal(caller_of(from), why);
            drop_later(from.number());
        });
    if (started) sessions_[number] = std::move(session);
}

/// Without a free descriptor the socket stays readable, and the loop would spin.
void Service::watch_socket_later() {
    source_.reset();
    auto later = loop_.after(kAcceptRetry, [this] {
        if (!watch_socket()) watch_socket_later();
    });
    if (later) listen_again_ = *std::move(later);
}

/// A limit per user: one user cannot block the others or root.
void Service::reject(wire::Channel channel, const wire::Peer& peer) {
    const Error why{Code::exhausted, fmt::format("user {} has {} connections already", peer.uid,
                                                 kMaxSessionsOfUser)};
    audit_refusal({peer.uid, peer.pid}, why);
    std::ignore = channel.send(pack(refused(why)), {}, std::chrono::steady_clock::now());
}

/// Any thread. One query writes all waiting refusals to the audit.
void Service::audit_refusal(Caller caller, const Error& why) {
    engine_.note_refusal(caller, why.what);
    if (audit_queued_.exchange(true)) return;
    const bool queued = worker_.query(0, [this] {
        audit_queued_ = false;
        engine_.write_refusals();
    });
    if (!queued) audit_queued_ = false;
}

void Service::query(Session& session, Query query) {
    const Caller caller = caller_of(session);
    auto run = [this, number = session.number(), query = std::move(query)]() mutable {
        if (auto done = query(number); !done) reply(number, refused(done.error()));
    };
    if (worker_.query(caller.uid, std::move(run))) return;
    refuse(session, too_many_requests(caller));
}

/// One plan at a time, because its descriptors stay open until it is accepted or refused.
bool Service::starts_offer(Session& session) {
    if (session.offering) {
        refuse(session, {Code::exhausted,
                         "the answer to the previous plan is pending; wait for it or use another "
                         "connection"});
        return false;
    }
    return session.offering = true;
}

/// Any thread.
void Service::end_offer(const Requester& requester, wire::Reply reply) {
    loop_.post([this, number = requester.session, reply = std::move(reply)] {
        Session* session = find(number);
        if (session == nullptr) return;
        session->offering = false;
        session->send(reply);
    });
}

/// Any thread.
void Service::refuse(const Requester& requester, const Error& why) {
    audit_refusal(requester.caller, why);
    end_offer(requester, refused(why));
}

void Service::refuse(Session& session, const Error& why) {
    audit_refusal(caller_of(session), why);
    session.send(refused(why));
}

void Service::on_request(Session& session, wire::Request request, std::vector<Fd> descriptors) {
    if (session.peer().uid != 0 && session.peer().uid != options_.agent_uid) {
        refuse(session, {Code::denied, fmt::format("user {} is not permitted to use the executor",
                                                   session.peer().uid)});
        return drop_later(session.number());
    }
    if (!session.greeted && !std::holds_alternative<wire::Hello>(request)) {
        return refuse(session, {Code::invalid, "the first message must be a hello"});
    }
    if (!descriptors.empty() && !std::holds_alternative<wire::Apply>(request)) {
        return refuse(session, {Code::invalid, "only apply takes descriptors"});
    }
    std::visit(
        overloaded{
            [&](wire::Apply&& apply) { answer(session, std::move(apply), std::move(descriptors)); },
            [&](auto&& other) { answer(session, std::forward<decltype(other)>(other)); },
        },
        std::move(request));
}

void Service::reply(std::uint64_t session, wire::Reply reply) {
    loop_.post([this, session, reply = std::move(reply)] {
        if (Session* found = find(session)) found->send(reply);
    });
}

void Service::on_report(const wire::StepEvent& event) {
    if (event.progress.empty()) {  // progress is soon outdated
        current_events_.push_back(event);
        set_status(fmt::format("Plan {}, step {}: {}.", event.plan_id, event.index, event.text));
    }
    for (auto& [number, session] : sessions_) {
        if (session->following == event.plan_id) session->send(event);
    }
}

void Service::on_end(const wire::PlanSummary& summary) {
    idle_.touch();
    current_end_ = summary;
    set_status(fmt::format("Ready for plans. Last plan: {}, {}.", summary.plan_id, summary.state));
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
