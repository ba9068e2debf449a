#include "daemon/executor/service/service.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "daemon/base/memory.hpp"
#include "daemon/base/overloaded.hpp"
#include "daemon/base/refusal.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/service/plan_log.hpp"
#include "daemon/executor/service/replies.hpp"

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

constexpr std::ptrdiff_t kMaxSessionsOfUser = 16;
constexpr std::size_t kMaxOpenRequests = 32;  // of a connection
constexpr std::chrono::milliseconds kAcceptRetry = 1s;
constexpr std::chrono::milliseconds kStatusEvery = 100ms;

Caller caller_of(const wire::Peer& peer) { return {peer.uid, peer.pid, {}}; }

/// Of a request that changes something.
std::optional<model::OnBehalfOf> on_behalf_of(const wire::Request& request) {
    using Given = std::optional<model::OnBehalfOf>;
    return std::visit(
        overloaded{
            [](const OneOf<wire::Apply, wire::Cancel, wire::Undo, wire::Repair> auto& change) {
                return change.on_behalf_of;
            },
            // They change nothing, or are root's alone.
            [](const OneOf<wire::Hello, wire::Observe, wire::Preview, wire::Follow, wire::Subscribe,
                           wire::History, wire::JournalRequest, wire::Preflight,
                           wire::TrustCa> auto&) { return Given(); },
        },
        request);
}

}  // namespace

Service::Service(Loop& loop, Worker& worker, Engine& engine, Options options)
    : loop_(loop),
      worker_(worker),
      engine_(engine),
      options_(std::move(options)),
      idle_(loop, trim_memory),
      changes_(loop, worker, engine, options_.bus,
               [this](const wire::Reply& event) { send_to_subscribers(event); }),
      bootstrap_(loop, engine.root(), options_.bootstrap_kubeconfig,
                 [this](const wire::Reply& event) { send_to_subscribers(event); }) {}

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
    const bool is_full = std::ranges::count_if(sessions_, same_user) >= kMaxSessionsOfUser;
    if (is_full && !is_off("connections")) {
        return reject(std::move(channel), *peer);
    }
    const std::uint64_t number = next_session_++;
    auto session = std::make_unique<Session>(loop_, std::move(channel), *peer, number);
    auto started = session->start(
        [this](Session& from, std::uint32_t id, wire::Request request,
               std::vector<Fd> descriptors) {
            on_request(from, id, std::move(request), std::move(descriptors));
        },
        [this](Session& from, const Error& why) {
            if (why.code == Code::invalid) audit_refusal(caller_of(from.peer()), why);
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
    audit_refusal(caller_of(peer), why);
    std::ignore =
        channel.send(pack(0, refused(why), wire::Part::last), {}, std::chrono::steady_clock::now());
}

void Service::audit_refusal(const Caller& caller, const Error& why) {
    audit(caller, "refused", why.what);
}

/// Any thread. One query writes all waiting events to the audit: they fill nobody's queue.
void Service::audit(const Caller& caller, std::string_view event, std::string_view what) {
    engine_.queue_event(caller, event, what);
    if (audit_queued_.exchange(true)) return;
    const bool queued = worker_.query(0, [this] {
        audit_queued_ = false;
        engine_.write_events();
    });
    if (!queued) audit_queued_ = false;
}

void Service::query(const Requester& requester, Query query) {
    auto run = [this, requester, query = std::move(query)]() mutable {
        if (auto done = query(); !done) reply(requester, refused(done.error()), wire::Part::last);
    };
    if (worker_.query(requester.caller.uid, std::move(run))) return;
    refuse(requester, too_many_requests(requester.caller));
}

void Service::refuse(const Requester& requester, const Error& why) {
    audit_refusal(requester.caller, why);
    reply(requester, refused(why), wire::Part::last);
}

Result<> Service::check_user(std::uint32_t user) const {
    if (user == 0 || user == options_.agent_uid) return {};
    return refusal("peer", Code::denied,
                   fmt::format("user {} is not permitted to use the executor", user));
}

Result<> Service::check_request(const Session& session, const wire::Request& request,
                                std::size_t descriptors) const {
    if (!session.greeted && !std::holds_alternative<wire::Hello>(request)) {
        return fail(Code::invalid, "the first request must be a hello");
    }
    if (descriptors != 0 && !std::holds_alternative<wire::Apply>(request)) {
        return fail(Code::invalid, "only apply takes descriptors");
    }
    if (session.open_requests() > kMaxOpenRequests) {
        return fail(Code::exhausted,
                    fmt::format("the connection has {} open requests already; wait for a reply",
                                kMaxOpenRequests));
    }
    // They stay open until the plan is accepted or refused.
    if (session.waiting_descriptors() + descriptors > wire::kMaxDescriptors) {
        return fail(Code::exhausted,
                    fmt::format("plans of the connection wait with {} descriptors already; wait "
                                "until they are accepted",
                                session.waiting_descriptors()));
    }
    return {};
}

void Service::on_request(Session& session, std::uint32_t id, wire::Request request,
                         std::vector<Fd> descriptors) {
    Requester requester{session.number(), id, caller_of(session.peer())};
    requester.caller.on_behalf_of = on_behalf_of(request);
    if (const auto known = check_user(requester.caller.uid); !known) {
        refuse(requester, known.error());
        return drop_later(session.number());
    }
    const auto good = check_request(session, request, descriptors.size());
    if (!good) return refuse(requester, good.error());
    if (OpenRequest* open = session.find(id)) open->descriptors = descriptors.size();
    std::visit(overloaded{
                   [&](wire::Apply&& apply) {
                       answer(requester, std::move(apply), std::move(descriptors));
                   },
                   [&](auto&& other) { answer(requester, std::forward<decltype(other)>(other)); },
               },
               std::move(request));
}

void Service::reply(const Requester& requester, wire::Reply reply, wire::Part part) {
    loop_.post([this, requester, reply = std::move(reply), part] { send(requester, reply, part); });
}

void Service::send(const Requester& requester, const wire::Reply& reply, wire::Part part) {
    if (Session* session = find(requester.session)) session->send(requester.request, reply, part);
}

void Service::send_to(const Session::Wanted& wanted, const wire::Reply& reply, wire::Part part) {
    for (auto& [number, session] : sessions_) session->send_to(wanted, reply, part);
}

void Service::send_to_subscribers(const wire::Reply& event) {
    send_to(&OpenRequest::subscribes, event, wire::Part::more);
}

void Service::on_report(const wire::StepEvent& event) {
    if (event.progress.empty()) {  // progress is soon outdated
        current_events_.push_back(event);
        set_status_soon(
            fmt::format("Plan {}, step {}: {}.", event.plan_id, event.index, event.text));
    }
    const auto follows = [&](const OpenRequest& open) { return open.follows == event.plan_id; };
    send_to(follows, event, wire::Part::more);
}

/// Not for every step: each status is work for systemd, and most steps take less than a
/// millisecond.
void Service::set_status_soon(std::string text) {
    next_status_ = std::move(text);
    if (status_timer_) return;
    auto timer = loop_.after(kStatusEvery, [this] {
        status_timer_.reset();
        set_status(next_status_);
    });
    if (timer) status_timer_ = *std::move(timer);
}

void Service::on_end(const wire::PlanSummary& summary) {
    idle_.touch();
    current_end_ = summary;
    status_timer_.reset();
    set_status(fmt::format("Ready for plans. Last plan: {}, {}.", summary.plan_id,
                           name_of(summary.state)));
    const auto follows = [&](const OpenRequest& open) { return open.follows == summary.plan_id; };
    send_to(follows, summary, wire::Part::last);
    send_to_subscribers(summary);
    changes_.on_plan_end();
}

void Service::allow(model::AllowList allow) {
    worker_.query_of_root([this, allow = std::move(allow)]() mutable {
        const wire::PermitsChanged event{model::permits_of(allow)};
        engine_.allow(std::move(allow));
        loop_.post([this, event] {
            changes_.on_allowed();
            send_to_subscribers(event);
        });
    });
}

Session* Service::find(std::uint64_t number) {
    const auto found = sessions_.find(number);
    return found == sessions_.end() ? nullptr : found->second.get();
}

OpenRequest* Service::find(const Requester& requester) {
    Session* session = find(requester.session);
    return session == nullptr ? nullptr : session->find(requester.request);
}

void Service::drop_later(std::uint64_t number) {
    loop_.post([this, number] { sessions_.erase(number); });
}

}  // namespace kubexm::executor
