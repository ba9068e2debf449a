#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "daemon/agent/context.hpp"
#include "daemon/base/backoff.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// Brings the conditions of the contract into the ByoHost, and frees it. Writes only what differs,
/// only to the version that was read, and again when somebody was faster.
class Reporter {
public:
    explicit Reporter(AgentContext& context);

    /// The newest version of the host, and the way to it.
    void on_host(kube::Api& api, const model::HostRecord& host);
    /// The way to it is no more.
    void forget_host();
    /// Set in the Snapshot at once, in the ByoHost as soon as that works.
    void set(const model::Condition& condition);
    /// Takes back what was said not to be so, if it was, also by the process before this one.
    void mend(std::string_view condition_type);
    /// The host is free, as `conditions` say: in the two patches of the contract. `done` tells
    /// whether both are through; where somebody was faster, they are not.
    void free_host(const std::vector<model::Condition>& conditions, std::function<void(bool)> done);

private:
    using Answer = kube::Answer<nlohmann::json>;
    void write();
    void on_written(const Answer& answer, const std::string& version,
                    const std::vector<model::Condition>& sent);
    void on_status_freed(const Answer& answer, std::function<void(bool)> done);
    void note(const model::Condition& condition);

    AgentContext& context_;
    kube::Api* api_ = nullptr;
    std::optional<model::HostRecord> host_;
    std::vector<model::Condition> ours_;
    kube::Api::Handle call_;
    bool writing_ = false;
    Loop::Handle retry_;
    Backoff backoff_;
};

}  // namespace kubexm::agent
