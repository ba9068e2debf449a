#pragma once

#include <functional>
#include <utility>

#include "daemon/agent/context.hpp"
#include "daemon/agent/lifetime_guard.hpp"

namespace kubexm::agent {

/// Work that takes time. start() begins it; it ends once, with an outcome. Destroyed before that,
/// it is cancelled and calls no handler.
template <typename Outcome>
class Activity {
public:
    using Done = std::move_only_function<void(Result<Outcome>)>;

    Activity(AgentContext& context, Done done) : context_(context), done_(std::move(done)) {}
    Activity(const Activity&) = delete;
    Activity& operator=(const Activity&) = delete;
    virtual ~Activity() = default;
    virtual void start() = 0;

protected:
    /// From the loop: `done` may destroy this object.
    void finish(Result<Outcome> outcome) {
        lifetime_.finish(context_.loop, done_, std::move(outcome));
    }
    AgentContext& context() const { return context_; }
    const LifetimeGuard& lifetime() const { return lifetime_; }

private:
    AgentContext& context_;
    Done done_;
    LifetimeGuard lifetime_;
};

}  // namespace kubexm::agent
