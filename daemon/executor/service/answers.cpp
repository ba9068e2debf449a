#include "daemon/executor/service/service.hpp"

#include <fmt/format.h>

#include "daemon/executor/service/replies.hpp"

// The answers to what is asked. What needs the host or the journal happens on the worker's thread.

namespace kubexm::executor {

void Service::answer(Session& session, const wire::Hello& hello) {
    if (hello.protocol != wire::kProtocol) {
        return refuse(
            session,
            {Code::invalid,
             fmt::format("{} speaks protocol {}, {} speaks {}: install the same version "
                         "of both and restart them",
                         options_.program, wire::kProtocol, hello.program, hello.protocol)});
    }
    session.greeted = true;
    session.send(wire::Hello{wire::kProtocol, options_.program});
}

void Service::answer(Session& session, const wire::Observe&) {
    look(session, [this, number = session.number(), running = current_end_ ? "" : current_plan_] {
        wire::Observation seen;
        for (const std::string& name : engine_.allowed().units) {
            auto unit = engine_.unit(name);
            if (!unit) return tell(number, refused(unit.error()));
            seen.units.push_back({name, unit->active, unit->enablement});
        }
        auto owners = engine_.owners();
        if (!owners) return tell(number, refused(owners.error()));
        seen.owners = *std::move(owners);
        seen.running_plan = running;
        tell(number, std::move(seen));
    });
}

void Service::answer(Session& session, wire::Preview request) {
    look(session, [this, number = session.number(), caller = caller_of(session),
                   plan = std::move(request.plan)] {
        if (auto good = engine_.check(plan, caller); !good) {
            return tell(number, refused(good.error()));
        }
        for (std::uint32_t i = 0; i < plan.steps.size(); ++i) {
            auto seen = engine_.preview_step(plan.steps[i], caller);
            if (!seen) return tell(number, refused(seen.error()));
            tell(number, wire::StepPreview{i, seen->holds, model::text_of(plan.steps[i]),
                                           std::move(seen->diff)});
        }
        tell(number, wire::End{});
    });
}

void Service::answer(Session& session, wire::Apply request, std::vector<Fd> descriptors) {
    if (descriptors.size() != request.contents.size()) {
        return refuse(session, {Code::invalid, "as many descriptors as contents must come along"});
    }
    if (!begins_offer(session)) return;
    auto contents = std::make_shared<std::vector<Content>>();
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
        contents->push_back({std::move(request.contents[i]), std::move(descriptors[i])});
    }
    const Asker asker{session.number(), caller_of(session)};
    auto accept = [this, asker, plan = request.plan, contents] {
        return engine_.accept(plan, *contents, asker.caller);
    };
    if (!request.replace) {
        queue_plan(asker, false, std::move(accept));
        return;
    }
    auto check = [this, asker, plan = std::move(request.plan), contents] {
        return engine_.acceptable(plan, *contents, asker.caller);
    };
    replace_plan(asker, std::move(check), std::move(accept));
}

void Service::answer(Session& session, const wire::Undo& request) {
    if (!begins_offer(session)) return;
    const Asker asker{session.number(), caller_of(session)};
    auto check = [this, asker, request] {
        return engine_.undo_acceptable(request.id, request.owner, asker.caller);
    };
    replace_plan(asker, std::move(check), [this, asker, request] {
        return engine_.accept_undo(request.id, request.owner, asker.caller);
    });
}

void Service::answer(Session& session, const wire::Follow& request) {
    if (request.plan_id == current_plan_) {
        for (const wire::StepEvent& event : current_events_) session.send(event);
        if (current_end_) return session.send(*current_end_);
        session.following = request.plan_id;
        return;
    }
    look(session, [this, number = session.number(), id = request.plan_id] {
        auto record = engine_.plan(id);
        if (!record) return tell(number, refused(record.error()));
        for (wire::StepEvent& event : events_of(*record)) tell(number, std::move(event));
        if (record->state != PlanState::running) return tell(number, summary_of(*record));
        // Interrupted, and about to be gone on with.
        loop_.post([this, number, id] {
            if (Session* found = find(number)) found->following = id;
        });
    });
}

void Service::answer(Session& session, const wire::Cancel& request) {
    if (!worker_.stop_plan(request.plan_id)) {
        return refuse(session,
                      {Code::not_found, fmt::format("plan {} does not run", request.plan_id)});
    }
    session.send(wire::Accepted{request.plan_id});
}

void Service::answer(Session& session, const wire::History& request) {
    look(session, [this, number = session.number(), limit = request.limit] {
        auto records = engine_.history(limit);
        if (!records) return tell(number, refused(records.error()));
        for (const PlanRecord& record : *records) tell(number, summary_of(record));
        tell(number, wire::End{});
    });
}

/// A person looks at the journal, or decides about a damaged one.
void Service::answer(Session& session, const wire::Journal& request) {
    look(session, [this, number = session.number(), caller = caller_of(session), request] {
        if (request.action != wire::JournalAction::show) {
            const bool restore = request.action == wire::JournalAction::restore;
            auto decided = engine_.decide(
                restore ? RecordStore::Decision::restore : RecordStore::Decision::discard, caller);
            if (!decided) return tell(number, refused(decided.error()));
            loop_.post([this] { recover(); });
        }
        tell_journal(number);
    });
}

/// Worker thread.
void Service::tell_journal(std::uint64_t session) {
    auto found = engine_.journal();
    if (!found) return tell(session, refused(found.error()));
    for (const LedgerEntry& entry : found->ledger) tell(session, entry_of(entry));
    tell(session, state_of(*found));
}

}  // namespace kubexm::executor
