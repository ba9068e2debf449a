#include "daemon/hands/service/service.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "daemon/base/overloaded.hpp"
#include "daemon/hands/service/replies.hpp"

namespace kubexm::hands {

namespace {

constexpr std::size_t kMaxSessions = 32;

}  // namespace

Service::Service(Loop& loop, Worker& worker, Executor& executor, Options options)
    : loop_(loop), worker_(worker), executor_(executor), options_(std::move(options)) {}

Result<> Service::listen(Fd socket) {
    socket_ = std::move(socket);
    auto source =
        loop_.on_io(socket_.get(), EPOLLIN, [this](std::uint32_t) { accept_connection(); });
    if (!source) return std::unexpected(source.error());
    source_ = *std::move(source);
    return {};
}

void Service::accept_connection() {
    Fd connection{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!connection) return;
    wire::Channel channel(std::move(connection));
    auto peer = channel.peer();
    if (!peer || sessions_.size() >= kMaxSessions) return;
    const std::uint64_t number = next_session_++;
    auto session = std::make_unique<Session>(loop_, std::move(channel), *peer, number);
    auto started = session->start(
        [this](Session& from, wire::Request request, std::vector<Fd> descriptors) {
            on_request(from, std::move(request), std::move(descriptors));
        },
        [this](Session& from, const Error& why) {
            // A client that breaks the rules of the wire is written down; one that leaves is not.
            if (why.code == Code::invalid) {
                worker_.look([this, caller = caller_of(from), what = why.what] {
                    executor_.audit_refusal(caller, what);
                });
            }
            drop_later(from.number());
        });
    if (started) sessions_[number] = std::move(session);
}

void Service::on_request(Session& session, wire::Request request, std::vector<Fd> descriptors) {
    if (session.peer().uid != 0 && session.peer().uid != options_.front_uid) {
        const std::string what =
            fmt::format("user {} may not speak to the hands", session.peer().uid);
        worker_.look(
            [this, caller = caller_of(session), what] { executor_.audit_refusal(caller, what); });
        session.send(refused({Code::denied, what}));
        return drop_later(session.number());
    }
    if (!session.greeted && !std::holds_alternative<wire::Hello>(request)) {
        return session.send(refused({Code::invalid, "the first message must be a hello"}));
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
    current_events_.push_back(event);
    for (auto& [number, session] : sessions_) {
        if (session->following == event.plan_id) session->send(event);
    }
}

void Service::on_end(const wire::PlanSummary& summary) {
    current_end_ = summary;
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

}  // namespace kubexm::hands
