#include "daemon/executor/service/service.hpp"

#include <fmt/format.h>

#include "daemon/base/try.hpp"
#include "daemon/executor/service/replies.hpp"

// Answers to requests. The host and the journal are used on the worker's thread only.

namespace kubexm::executor {

void Service::answer(const Requester& requester, const wire::Hello& hello) {
    if (hello.protocol != wire::kProtocol) {
        return refuse(
            requester,
            {Code::invalid,
             fmt::format("{} speaks protocol {}, {} speaks {}; install the same version of both "
                         "and restart them",
                         options_.program, wire::kProtocol, hello.program, hello.protocol)});
    }
    if (Session* session = find(requester.session)) session->greeted = true;
    send(requester, wire::Hello{wire::kProtocol, options_.program}, wire::Part::last);
}

void Service::answer(const Requester& requester, const wire::Observe&) {
    query(requester, [this, requester]() -> Result<> {
        wire::Observation observation;
        observation.running_plan = TRY(engine_.running_plan());
        for (const std::string& name : engine_.allowed().units) {
            auto unit = TRY(engine_.unit(name));
            observation.units.push_back({name, unit.active, unit.enablement});
        }
        const auto outcomes = TRY(engine_.outcomes());
        const auto objects = TRY(engine_.objects());
        const auto pending = TRY(engine_.pending_renderings());
        observation.owners = owners_of(outcomes, objects, pending);
        observation.permits = model::permits_of(engine_.allowed());
        observation.unconfirmed = views_of(TRY(engine_.unconfirmed_authorities()));
        reply(requester, std::move(observation), wire::Part::last);
        return {};
    });
}

void Service::answer(const Requester& requester, const wire::Preflight& request) {
    query(requester, [this, requester, needs = request.needs]() -> Result<> {
        wire::PreflightResult result{TRY(engine_.preflight(needs)),
                                     engine_.allowed().ignored_checks};
        reply(requester, std::move(result), wire::Part::last);
        return {};
    });
}

void Service::answer(const Requester& requester, wire::TrustCa request) {
    query(requester, [this, requester, bundle = std::move(request.bundle)]() -> Result<> {
        const auto trusted = TRY(engine_.confirm_authorities(bundle, requester.caller));
        const wire::TrustedAuthorities event{views_of(trusted)};
        reply(requester, event, wire::Part::last);
        loop_.post([this, event] { send_to_subscribers(event); });
        return {};
    });
}

void Service::answer(const Requester& requester, wire::Preview request) {
    query(requester, [this, requester, plan = std::move(request.plan)]() -> Result<> {
        TRY(engine_.check(plan, requester.caller));
        for (std::uint32_t i = 0; i < plan.steps.size(); ++i) {
            auto preview = TRY(engine_.preview_step(plan.steps[i], requester.caller));
            reply(requester,
                  wire::StepPreview{i, preview.holds, model::text_of(plan.steps[i]),
                                    std::move(preview.diff)},
                  wire::Part::more);
        }
        reply(requester, wire::End{}, wire::Part::last);
        return {};
    });
}

void Service::answer(const Requester& requester, wire::Apply request, std::vector<Fd> descriptors) {
    if (descriptors.size() != request.contents.size()) {
        return refuse(requester,
                      {Code::invalid,
                       fmt::format("apply: expected as many descriptors as contents ({}), found {}",
                                   request.contents.size(), descriptors.size())});
    }
    auto contents = std::make_shared<std::vector<Content>>();
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
        contents->push_back({std::move(request.contents[i]), std::move(descriptors[i])});
    }
    auto accept = [this, requester, plan = request.plan, contents] {
        return engine_.accept(plan, *contents, requester.caller);
    };
    if (!request.replace) {
        queue_plan(requester, false, std::move(accept));
        return;
    }
    auto check = [this, requester, plan = std::move(request.plan),
                  contents]() -> Result<std::string> {
        TRY(engine_.acceptable(plan, *contents, requester.caller));
        return "";
    };
    replace_plan(requester, std::move(check), std::move(accept));
}

void Service::answer(const Requester& requester, const wire::Undo& request) {
    auto check = [this, requester, request]() -> Result<std::string> {
        TRY(engine_.undo_acceptable(request.plan_id, request.owner, requester.caller));
        if (requester.caller.uid == 0) return "";  // who may want it to begin anew
        return engine_.running_undo(request.owner);
    };
    replace_plan(requester, std::move(check), [this, requester, request] {
        return engine_.accept_undo(request.plan_id, request.owner, requester.caller);
    });
}

void Service::answer(const Requester& requester, const wire::Repair& request) {
    queue_plan(requester, false, [this, requester, request] {
        return engine_.accept_repair(request.plan_id, request.owner, requester.caller);
    });
}

void Service::answer(const Requester& requester, const wire::Follow& request) {
    if (request.plan_id == current_plan_) {
        for (const wire::StepEvent& event : current_events_) {
            send(requester, event, wire::Part::more);
        }
        if (current_end_) return send(requester, *current_end_, wire::Part::last);
        return follow(requester, request.plan_id);
    }
    query(requester, [this, requester, id = request.plan_id]() -> Result<> {
        const PlanRecord record = TRY(engine_.plan(id));
        for (wire::StepEvent& event : events_of(record)) {
            reply(requester, std::move(event), wire::Part::more);
        }
        if (record.state != PlanState::running) {
            reply(requester, summary_of(record), wire::Part::last);
            return {};
        }
        // Interrupted, and about to be resumed.
        loop_.post([this, requester, id] { follow(requester, id); });
        return {};
    });
}

void Service::follow(const Requester& requester, const std::string& plan_id) {
    if (OpenRequest* open = find(requester)) open->follows = plan_id;
}

void Service::answer(const Requester& requester, const wire::Subscribe&) {
    if (OpenRequest* open = find(requester)) open->subscribes = true;
    changes_.on_subscriber();
    bootstrap_.on_subscriber();
}

void Service::answer(const Requester& requester, const wire::Cancel& request) {
    auto stopped = worker_.stop_plan(request.plan_id, requester.caller.uid);
    if (!stopped) return refuse(requester, stopped.error());
    send(requester, wire::Accepted{request.plan_id}, wire::Part::last);
    if (*stopped) audit(requester.caller, "plan cancelled", request.plan_id);
}

void Service::answer(const Requester& requester, const wire::History& request) {
    query(requester, [this, requester, limit = request.limit]() -> Result<> {
        const auto records = TRY(engine_.history(limit));
        for (const PlanRecord& record : records) {
            reply(requester, summary_of(record), wire::Part::more);
        }
        reply(requester, wire::End{}, wire::Part::last);
        return {};
    });
}

void Service::answer(const Requester& requester, const wire::JournalRequest& request) {
    query(requester, [this, requester, request]() -> Result<> {
        if (request.action != wire::JournalAction::show) {
            const bool restore = request.action == wire::JournalAction::restore;
            TRY(engine_.decide(
                restore ? RecordStore::Decision::restore : RecordStore::Decision::discard,
                requester.caller));
            loop_.post([this] { recover(); });
        }
        const Recovered found = TRY(engine_.journal());
        for (const LedgerEntry& entry : found.ledger) {
            reply(requester, entry_of(entry), wire::Part::more);
        }
        reply(requester, state_of(found), wire::Part::last);
        return {};
    });
}

}  // namespace kubexm::executor
