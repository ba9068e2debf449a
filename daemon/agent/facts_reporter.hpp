#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/kube/request_backoff.hpp"

namespace kubexm::agent {

/// Writes changed facts of the AgentState to the registered ByoHost, in the form of the
/// registration: capacity and status apart, and only the part that changed.
class FactsReporter {
public:
    /// `written`: the facts that the ByoHost has.
    FactsReporter(AgentContext& context, kube::Api& api, model::HostFacts written);

    /// After a change of the AgentState. Nothing while the ByoHost is paused or the management
    /// cluster does not answer, and after a failure only once the back-off is over.
    void update();

private:
    using Answer = kube::Answer<nlohmann::json>;
    void write(std::string path, const nlohmann::json& patch, model::HostFacts next);
    void on_failure(const kube::Failure& failure);

    AgentContext& context_;
    kube::Api& api_;
    model::HostFacts written_;
    kube::Api::Handle call_;
    bool writing_ = false;
    Loop::Handle retry_;
    kube::RequestBackoff backoff_;
};

}  // namespace kubexm::agent
