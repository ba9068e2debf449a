#pragma once

#include <functional>
#include <optional>

#include "daemon/agent/alive.hpp"
#include "daemon/agent/decide.hpp"
#include "daemon/agent/world.hpp"

namespace kubexm::agent {

/// What the hands say is on this host, asked anew: for decisions, and for whoever looks at the
/// Snapshot.
class HandsLook {
public:
    using Done = std::function<void(const Result<HandsState>&)>;
    explicit HandsLook(World& world) : world_(world) {}

    void start(Done done);

private:
    void on_observation(const wire::Observation& seen);
    void ask_for_last_plan(Done done);
    void on_plan(const wire::PlanSummary& plan);

    World& world_;
    HandsState state_;
    Alive alive_;
};

}  // namespace kubexm::agent
