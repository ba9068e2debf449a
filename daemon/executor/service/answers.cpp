#include "daemon/executor/service/service.hpp"

#include <fmt/format.h>

#include "daemon/base/try.hpp"
#include "daemon/executor/service/replies.hpp"

// Answers to requests. The host and the journal are used on the worker's thread only.

namespace kubexm::executor {

void Service::answer(Session& session, const wire::Hello& hello) {
    if (hello.protocol != wire::kProtocol) {
        return refuse(
            session,
            {Code::invalid,
             fmt::format("{} speaks protocol {}, {} speaks {}; install the same version of both "
                         "and restart them",
                         options_.program, wire::kProtocol, hello.program, hello.protocol)});
    }
    session.greeted = true;
    session.send(wire::Hello{wire::kProtocol, options_.program});
}

void Service::answer(Session& session, const wire::Observe&) {
    query(session, [this, running = current_end_ ? "" : current_plan_](auto number) -> Result<> {
        wire::Observation observation{.running_plan = running};
        for (const std::string& name : engine_.allowed().units) {
            auto unit = TRY(engine_.unit(name));
            observation.units.push_back({name, unit.active, unit.enablement});
        }
        observation.owners = TRY(engine_.owners());
        reply(number, std::move(observation));
        return {};
    });
}

void Service::answer(Session& session, wire::Preview request) {
    query(session,
          [this, caller = caller_of(session),
           plan = std::move(request.plan)](auto number) -> Result<> {
              TRY(engine_.check(plan, caller));
              for (std::uint32_t i = 0; i < plan.steps.size(); ++i) {
                  auto preview = TRY(engine_.preview_step(plan.steps[i], caller));
                  reply(number, wire::StepPreview{i, preview.holds, model::text_of(plan.steps[i]),
                                                  std::move(preview.diff)});
              }
              reply(number, wire::End{});
              return {};
          });
}

void Service::answer(Session& session, wire::Apply request, std::vector<Fd> descriptors) {
    if (descriptors.size() != request.contents.size()) {
        return refuse(session,
                      {Code::invalid,
                       fmt::format("apply: expected as many descriptors as contents ({}), found {}",
                                   request.contents.size(), descriptors.size())});
    }
    if (!starts_offer(session)) return;
    auto contents = std::make_shared<std::vector<Content>>();
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
        contents->push_back({std::move(request.contents[i]), std::move(descriptors[i])});
    }
    const Requester requester{session.number(), caller_of(session)};
    auto accept = [this, requester, plan = request.plan, contents] {
        return engine_.accept(plan, *contents, requester.caller);
    };
    if (!request.replace) {
        queue_plan(requester, false, std::move(accept));
        return;
    }
    auto check = [this, requester, plan = std::move(request.plan), contents] {
        return engine_.acceptable(plan, *contents, requester.caller);
    };
    replace_plan(requester, std::move(check), std::move(accept));
}

void Service::answer(Session& session, const wire::Undo& request) {
    if (!starts_offer(session)) return;
    const Requester requester{session.number(), caller_of(session)};
    auto check = [this, requester, request] {
        return engine_.undo_acceptable(request.id, request.owner, requester.caller);
    };
    replace_plan(requester, std::move(check), [this, requester, request] {
        return engine_.accept_undo(request.id, request.owner, requester.caller);
    });
}

void Service::answer(Session& session, const wire::Follow& request) {
    if (request.plan_id == current_plan_) {
        for (const wire::StepEvent& event : current_events_) session.send(event);
        if (current_end_) return session.send(*current_end_);
        session.following = request.plan_id;
        return;
    }
    query(session, [this, id = request.plan_id](auto number) -> Result<> {
        const PlanRecord record = TRY(engine_.plan(id));
        for (wire::StepEvent& event : events_of(record)) reply(number, std::move(event));
        if (record.state != PlanState::running) {
            reply(number, summary_of(record));
            return {};
        }
        // Interrupted, and about to be resumed.
        loop_.post([this, number, id] {
            if (Session* found = find(number)) found->following = id;
        });
        return {};
    });
}

void Service::answer(Session& session, const wire::Cancel& request) {
    if (!worker_.stop_plan(request.plan_id)) {
        return refuse(session,
                      {Code::not_found, fmt::format("plan {} is not running", request.plan_id)});
    }
    session.send(wire::Accepted{request.plan_id});
}

void Service::answer(Session& session, const wire::History& request) {
    query(session, [this, limit = request.limit](auto number) -> Result<> {
        const auto records = TRY(engine_.history(limit));
        for (const PlanRecord& record : records) reply(number, summary_of(record));
        reply(number, wire::End{});
        return {};
    });
}

void Service::answer(Session& session, const wire::Journal& request) {
    query(session, [this, caller = caller_of(session), request](auto number) -> Result<> {
        if (request.action != wire::JournalAction::show) {
            const bool restore = request.action == wire::JournalAction::restore;
            TRY(engine_.decide(
                restore ? RecordStore::Decision::restore : RecordStore::Decision::discard, caller));
            loop_.post([this] { recover(); });
        }
        const Recovered found = TRY(engine_.journal());
        for (const LedgerEntry& entry : found.ledger) reply(number, entry_of(entry));
        reply(number, state_of(found));
        return {};
    });
}

}  // namespace kubexm::executor
