#include "daemon/agent/host_probe.hpp"

namespace kubexm::agent {

namespace {

/// Plans of root come between those of machines.
constexpr std::uint32_t kHistoryLimit = 50;

}  // namespace

void HostProbe::start(Done done) {
    context_.executor.ask(
        wire::Observe{}, {},
        lifetime_.guard([this, done = std::move(done)](const Result<wire::Reply>& reply) {
            if (!reply) return done(std::unexpected(reply.error()));
            if (const auto* observed = std::get_if<wire::Observation>(&*reply)) {
                on_observation(*observed);
                ask_for_last_plan(done);
            }
        }));
}

void HostProbe::on_observation(const wire::Observation& observed) {
    state_ = {
        .owners = observed.owners, .last = std::nullopt, .running_plan = observed.running_plan};
    context_.status.change([&](model::Snapshot& now) {
        now.units.clear();
        for (const wire::ObservedUnit& unit : observed.units) {
            now.units.push_back({unit.name, unit.active, unit.enablement});
        }
    });
}

void HostProbe::ask_for_last_plan(Done done) {
    context_.executor.ask(
        wire::History{kHistoryLimit}, {},
        lifetime_.guard([this, done = std::move(done)](const Result<wire::Reply>& reply) {
            if (!reply) return done(std::unexpected(reply.error()));
            if (const auto* plan = std::get_if<wire::PlanSummary>(&*reply)) {
                on_plan(*plan);
            }
            if (std::holds_alternative<wire::End>(*reply)) done(state_);
        }));
}

/// The newest comes first.
void HostProbe::on_plan(const wire::PlanSummary& plan) {
    if (!state_.last && plan.owner.starts_with(kOwnerPrefix)) state_.last = plan;
}

}  // namespace kubexm::agent
