#include "daemon/agent/executor_observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>

#include "daemon/agent/known_node.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/agent/repair_backoff.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/overloaded.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

template <typename T, typename... Types>
concept OneOf = (std::same_as<T, Types> || ...);

/// No event. A type that is in neither list does not compile.
template <typename T>
concept AnswerToRequest = OneOf<T, wire::Hello, wire::Refused, wire::Accepted, wire::StepPreview,
                                wire::StepEvent, wire::Observation, wire::JournalEntry,
                                wire::JournalState, wire::PreflightResult, wire::End>;

std::vector<model::UnitView> views_of(const std::vector<wire::ObservedUnit>& units) {
    std::vector<model::UnitView> views;
    views.reserve(units.size());
    for (const wire::ObservedUnit& unit : units) {
        views.push_back({unit.name, unit.active, unit.enablement});
    }
    return views;
}

/// Units that are not among the changed ones stay as they are known.
void merge_units(std::vector<model::UnitView>& known, std::vector<model::UnitView> changed) {
    for (model::UnitView& unit : changed) {
        const auto present = std::ranges::find(known, unit.name, &model::UnitView::name);
        if (present == known.end()) {
            known.push_back(std::move(unit));
        } else {
            *present = std::move(unit);
        }
    }
}

}  // namespace

ExecutorObserver::ExecutorObserver(AgentContext& context, Management& management, Listener listener)
    : context_(context),
      management_(management),
      listener_(std::move(listener)),
      observations_(1s, 5min),
      subscriptions_(1s, 5min) {}

void ExecutorObserver::on_executor(const Result<>& connected) {
    context_.state.change([&](AgentState& state) { state.executor.connected = connected; });
    is_linked_ = connected.has_value();
    subscribe_again_.reset();
    if (!connected) return;
    subscriptions_.reset();
    subscribe();
    observe();
}

/// Until the connection ends, or an event is too large for a frame.
void ExecutorObserver::subscribe() {
    context_.executor.ask(wire::Subscribe{}, {},
                          lifetime_.guard([this](const Result<wire::Reply>& event) {
                              if (!event) return subscribe_again(event.error());
                              on_event(*event);
                          }));
}

/// With the next connection on_executor() subscribes.
void ExecutorObserver::subscribe_again(const Error& why) {
    if (!is_linked_) return;
    log::warning("the executor reports no changes for now: " + why.what);
    auto timer = context_.loop.after(subscriptions_.next(context_.random()), [this] {
        subscribe();
        observe_unless_busy();  // what happened meanwhile
    });
    if (timer) subscribe_again_ = *std::move(timer);
}

void ExecutorObserver::on_event(const wire::Reply& event) {
    std::visit(
        overloaded{
            [&](const wire::Drift& drift) { on_drift(drift.objects); },
            [&](const wire::BootstrapKubeconfig& changed) { management_.on_bootstrap(changed); },
            [&](const wire::UnitsChanged& changed) { on_units(changed); },
            [&](const wire::PermitsChanged& changed) {
                context_.state.change(
                    [&](AgentState& state) { state.executor.permits = changed.permits; });
            },
            // A plan of root has begun or ended.
            [&](const wire::PlanSummary&) { observe_unless_busy(); },
            [&](const wire::TrustedAuthorities&) { observe_unless_busy(); },
            [](const AnswerToRequest auto&) {},
        },
        event);
}

void ExecutorObserver::on_units(const wire::UnitsChanged& changed) {
    context_.state.change(
        [&](AgentState& state) { merge_units(state.executor.units, views_of(changed.units)); });
}

void ExecutorObserver::on_drift(const std::vector<wire::DriftedObject>& objects) {
    for (const wire::DriftedObject& each : objects) {
        const bool ends_with_pause = is_repaired(context_.state.read(), each.owner);
        log::notice(fmt::format("{} differs from what was applied: {}{}", each.object, each.found,
                                ends_with_pause ? "; kubexmctl pause stops repairs" : ""));
    }
    const auto now = context_.state.now();
    context_.state.change([&](AgentState& state) {
        state.executor.drift = objects;
        state.executor.drift_known = true;
        if (objects.empty()) state.repair_asked_by.reset();
        update_repairs(state, now);
    });
}

void ExecutorObserver::observe_unless_busy() {
    if (!listener_.is_busy()) observe();
}

void ExecutorObserver::observe() {
    observe_again_.reset();
    context_.state.change([](AgentState& state) { state.executor.observed.reset(); });
    context_.executor.ask(
        wire::Observe{}, {},
        lifetime_.guard([this, number = ++newest_](const Result<wire::Reply>& reply) {
            if (number == newest_) on_answer(reply);
        }));
}

/// The executor may refuse while the connection stays: ask again.
void ExecutorObserver::on_answer(const Result<wire::Reply>& reply) {
    const auto* observed = reply ? std::get_if<wire::Observation>(&*reply) : nullptr;
    if (observed != nullptr) return on_observed(*observed);
    const Error why = reply ? Error{Code::internal, "unexpected reply"} : reply.error();
    log::warning("cannot observe the host: " + why.what);
    context_.state.change(
        [&](AgentState& state) { state.executor.connected = std::unexpected(why); });
    observe_later();
}

void ExecutorObserver::observe_later() {
    auto timer = context_.loop.after(observations_.next(context_.random()), [this] { observe(); });
    if (timer) observe_again_ = *std::move(timer);
}

void ExecutorObserver::on_observed(const wire::Observation& observed) {
    observations_.reset();
    context_.state.change([&](AgentState& state) {
        state.executor.connected = Result<>();
        state.executor.observed = ExecutorState{observed.owners, observed.running_plan};
        state.executor.known = state.executor.observed;
        state.executor.is_interrupted = false;
        state.executor.units = views_of(observed.units);
        state.executor.unconfirmed = observed.unconfirmed;
        state.executor.permits = observed.permits;
        state.executor.pending_renderings = state.executor.observed->pending_renderings();
    });
    overlook_shown_release();
    listener_.on_observed();
}

/// Of a resume, or of a join, while the executor was away.
void ExecutorObserver::overlook_shown_release() {
    const AgentState& state = context_.state.read();
    if (!state.memory.joined || !state.memory.joined->overlooks_release) return;
    std::ignore = remember(context_, [&](Memory& memory) {
        overlook_release(*memory.joined, state.executor.observed);
    });
}

}  // namespace kubexm::agent
