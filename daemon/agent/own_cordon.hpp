#pragma once

#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/base/backoff.hpp"
#include "daemon/kube/api.hpp"

namespace kubexm::agent {

/// Takes back the cordon of a release that was cancelled, once the node is maintained again. The
/// cordon of another user stays.
class OwnCordon {
public:
    OwnCordon(AgentContext& context, kube::Api& api, std::string owner)
        : context_(context), api_(api), owner_(std::move(owner)) {}

    /// After a change of the AgentState.
    void update();

private:
    void uncordon();
    void on_answer(const kube::Answer<nlohmann::json>& answer);
    void forget();

    AgentContext& context_;
    kube::Api& api_;
    std::string owner_;
    kube::Api::Handle call_;
    Loop::Handle retry_;
    Backoff backoff_{std::chrono::seconds(1), std::chrono::minutes(5)};
};

}  // namespace kubexm::agent
