#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "daemon/agent/context.hpp"
#include "daemon/base/backoff.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// Writes conditions to the ByoHost, and frees it. Writes only differences, with the
/// resourceVersion that was read, and again after a conflict.
class Reporter {
public:
    explicit Reporter(AgentContext& context);

    /// The newest version of the ByoHost, and the API to write to.
    void on_host(kube::Api& api, const model::HostRecord& host);
    /// The API is about to be destroyed.
    void forget_host();
    /// Sets a condition in the Snapshot at once, in the ByoHost as soon as possible.
    void set(const model::Condition& condition);
    /// Sets a condition to True where it was reported otherwise, also by an earlier process.
    void resolve(std::string_view condition_type);
    /// Frees the ByoHost with the two patches of its API. `done` gets false where one of them
    /// failed, also after a conflict.
    void free_host(const std::vector<model::Condition>& conditions, std::function<void(bool)> done);

private:
    using Answer = kube::Answer<nlohmann::json>;
    void write();
    void on_written(const Answer& answer, const std::string& version,
                    const std::vector<model::Condition>& sent);
    void on_status_freed(const Answer& answer, std::function<void(bool)> done);
    void record(const model::Condition& condition);

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
