#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/activity.hpp"
#include "daemon/agent/decide.hpp"
#include "daemon/agent/memory.hpp"
#include "daemon/agent/reporter.hpp"

namespace kubexm::agent {

/// Ends the node on this host as its join strategy does, observes the host again, and frees the
/// ByoHost where that asked for the release.
class HostRelease : public Activity<void> {
public:
    HostRelease(AgentContext& context, Reporter& reporter, Decision decision,
                std::function<void()> observe, Done done);
    void start() override;
    /// The executor has answered.
    void on_observed();

private:
    void on_left(const Result<Freed>& freed);
    void free_host();
    void end(bool freed);

    Reporter& reporter_;
    Decision decision_;
    std::function<void()> observe_;
    std::unique_ptr<Activity<Freed>> leaving_;
};

}  // namespace kubexm::agent
