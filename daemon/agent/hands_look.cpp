#include "daemon/agent/hands_look.hpp"

namespace kubexm::agent {

namespace {

/// Root's own plans come between ours; so many of them would only have a node looked at once more.
constexpr std::uint32_t kPlansToLookAt = 50;

}  // namespace

void HandsLook::start(Done done) {
    world_.hands.ask(wire::Observe{}, {},
                     alive_.guard([this, done = std::move(done)](const Result<wire::Reply>& reply) {
                         if (!reply) return done(std::unexpected(reply.error()));
                         if (const auto* seen = std::get_if<wire::Observation>(&*reply)) {
                             on_observation(*seen);
                             ask_for_last_plan(done);
                         }
                     }));
}

void HandsLook::on_observation(const wire::Observation& seen) {
    state_ = {.owners = seen.owners, .last = std::nullopt, .running_plan = seen.running_plan};
    world_.board.change([&](model::Snapshot& now) {
        now.units.clear();
        for (const wire::ObservedUnit& unit : seen.units) {
            now.units.push_back({unit.name, unit.active, unit.enablement});
        }
    });
}

void HandsLook::ask_for_last_plan(Done done) {
    world_.hands.ask(wire::History{kPlansToLookAt}, {},
                     alive_.guard([this, done = std::move(done)](const Result<wire::Reply>& reply) {
                         if (!reply) return done(std::unexpected(reply.error()));
                         if (const auto* plan = std::get_if<wire::PlanSummary>(&*reply)) {
                             on_plan(*plan);
                         }
                         if (std::holds_alternative<wire::End>(*reply)) done(state_);
                     }));
}

/// They come newest first.
void HandsLook::on_plan(const wire::PlanSummary& plan) {
    if (!state_.last && plan.owner.starts_with(kOwnerPrefix)) state_.last = plan;
}

}  // namespace kubexm::agent
