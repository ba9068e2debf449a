#include "daemon/hands/service/service.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "daemon/base/log.hpp"
#include "daemon/base/overloaded.hpp"
#include "daemon/hands/service/replies.hpp"

namespace kubexm::hands {

namespace {

constexpr std::size_t kMaxSessions = 32;

Caller caller_of(const Session& session) { return {session.peer().uid, session.peer().pid}; }

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

void Service::answer(Session& session, const wire::Hello& hello) {
    if (hello.protocol != wire::kProtocol) {
        return session.send(refused(
            {Code::invalid,
             fmt::format("{} speaks protocol {}, {} speaks {}: install the same version "
                         "of both and restart them",
                         options_.program, wire::kProtocol, hello.program, hello.protocol)}));
    }
    session.greeted = true;
    session.send(wire::Hello{wire::kProtocol, options_.program});
}

void Service::answer(Session& session, const wire::Observe&) {
    worker_.look([this, number = session.number(), running = current_end_ ? "" : current_plan_] {
        wire::Observation seen;
        for (const std::string& name : executor_.allowed().units) {
            auto unit = executor_.unit(name);
            if (!unit) return tell(number, refused(unit.error()));
            seen.units.push_back({name, unit->active, unit->enablement});
        }
        auto owners = executor_.owners();
        if (!owners) return tell(number, refused(owners.error()));
        seen.owners = *std::move(owners);
        seen.running_plan = running;
        tell(number, std::move(seen));
    });
}

void Service::answer(Session& session, wire::Preview request) {
    worker_.look([this, number = session.number(), caller = caller_of(session),
                  plan = std::move(request.plan)] {
        if (auto good = executor_.check(plan, caller); !good)
            return tell(number, refused(good.error()));
        for (std::uint32_t i = 0; i < plan.steps.size(); ++i) {
            auto seen = executor_.foresee(plan.steps[i]);
            if (!seen) return tell(number, refused(seen.error()));
            tell(number, wire::StepPreview{i, seen->holds, model::text_of(plan.steps[i]),
                                           std::move(seen->diff)});
        }
        tell(number, wire::End{});
    });
}

void Service::answer(Session& session, wire::Apply request, std::vector<Fd> descriptors) {
    if (descriptors.size() != request.contents.size()) {
        const Error wrong{Code::invalid, "as many descriptors as contents must come along"};
        worker_.look([this, caller = caller_of(session), wrong] {
            executor_.audit_refusal(caller, wrong.what);
        });
        return session.send(refused(wrong));
    }
    std::vector<Content> contents;
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
        contents.push_back({std::move(request.contents[i]), std::move(descriptors[i])});
    }
    queue_plan(session, request.replace,
               [this, caller = caller_of(session), plan = std::move(request.plan),
                contents = std::move(contents)]() mutable {
                   return executor_.accept(plan, contents, caller);
               });
}

void Service::answer(Session& session, const wire::Undo& request) {
    queue_plan(session, true, [this, caller = caller_of(session), request] {
        return executor_.accept_undo(request.id, request.owner, caller);
    });
}

/// A plan waits for the one that runs; with `replace` that one stops at its next step.
void Service::queue_plan(Session& session, bool replace, Accept accept) {
    if (replace) worker_.stop_plan();
    const bool queued = worker_.plan([this, number = session.number(), accept = std::move(accept)](
                                         const std::stop_token& stop) mutable {
        auto record = accept();
        if (!record) return tell(number, refused(record.error()));
        loop_.post([this, id = record->id] {
            current_plan_ = id;
            current_events_.clear();
            current_end_.reset();
        });
        tell(number, wire::Accepted{record->id});
        carry_out(*record, stop);
    });
    if (!queued)
        session.send(refused({Code::exhausted, "too many plans wait already: try again later"}));
}

void Service::carry_out(const PlanRecord& record, const std::stop_token& stop) {
    const Runner::Listener listener{
        .report =
            [this](const Report& report) {
                loop_.post([this, event = event_of(report)] { on_report(event); });
            },
        .between_steps = [this] { worker_.serve_looks(); },
    };
    auto state = executor_.carry_out(record, stop, listener);
    PlanRecord ended = record;
    if (auto now = executor_.plan(record.id)) ended = *std::move(now);
    if (!state) ended.last_error = state.error().what;
    loop_.post([this, summary = summary_of(ended)] { on_end(summary); });
}

void Service::recover(std::move_only_function<void(Result<>)> recovered) {
    worker_.plan([this, recovered = std::move(recovered)](const std::stop_token& stop) mutable {
        auto record = executor_.interrupted();
        if (record && *record) {
            log::notice("going on with an interrupted plan", {{"PLAN", (*record)->id}});
            loop_.post([this, id = (*record)->id] { current_plan_ = id; });
            carry_out(**record, stop);
        }
        Result<> outcome;
        if (!record) outcome = std::unexpected(record.error());
        loop_.post([recovered = std::move(recovered), outcome = std::move(outcome)]() mutable {
            recovered(std::move(outcome));
        });
    });
}

void Service::answer(Session& session, const wire::Follow& request) {
    if (request.plan_id == current_plan_) {
        for (const wire::StepEvent& event : current_events_) session.send(event);
        if (current_end_) return session.send(*current_end_);
        session.following = request.plan_id;
        return;
    }
    worker_.look([this, number = session.number(), id = request.plan_id] {
        auto record = executor_.plan(id);
        if (!record) return tell(number, refused(record.error()));
        for (wire::StepEvent& event : events_of(*record)) tell(number, std::move(event));
        tell(number, summary_of(*record));
    });
}

void Service::answer(Session& session, const wire::Cancel& request) {
    if (request.plan_id != current_plan_ || current_end_) {
        return session.send(
            refused({Code::not_found, fmt::format("plan {} does not run", request.plan_id)}));
    }
    worker_.stop_plan();
    session.send(wire::Accepted{request.plan_id});
}

void Service::answer(Session& session, const wire::History& request) {
    worker_.look([this, number = session.number(), limit = request.limit] {
        auto records = executor_.history(limit);
        if (!records) return tell(number, refused(records.error()));
        for (const PlanRecord& record : *records) tell(number, summary_of(record));
        tell(number, wire::End{});
    });
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
