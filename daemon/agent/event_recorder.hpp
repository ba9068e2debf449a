#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "daemon/agent/context.hpp"
#include "daemon/agent/event_budget.hpp"
#include "daemon/agent/state.hpp"
#include "daemon/kube/api.hpp"
#include "daemon/kube/event.hpp"

namespace kubexm::agent {

/// Writes the news of the AgentState as Events about the ByoHost. A repeat counts in the Event that
/// exists. An Event beyond the budget is dropped, but counts in the next write. Best effort: a
/// failure is logged, nothing waits for an Event, and nothing is retried.
class EventRecorder {
public:
    explicit EventRecorder(AgentContext& context);

    /// The API to write to; null: none, the last one is about to be destroyed.
    void use(kube::Api* api);
    /// After a change of the AgentState.
    void update();

private:
    using Answer = kube::Answer<nlohmann::json>;
    struct Entry {
        kube::EventSeries series;
        std::chrono::sys_seconds last;
        bool is_stored = false;  // in the cluster
        kube::Api::Handle call;  // null: no write is under way
    };
    void record(const kube::HostEvent& event, const model::HostRecord& host);
    void write(const std::string& key);
    void on_written(const std::string& key, std::uint32_t count, const Answer& answer);
    void forget_old();

    AgentContext& context_;
    AgentState before_;  // at the last update
    kube::Api* api_ = nullptr;
    std::map<std::string, Entry> entries_;  // of the last hour
    EventBudget budget_;
    std::set<Code> logged_;  // failures since the last success
};

}  // namespace kubexm::agent
