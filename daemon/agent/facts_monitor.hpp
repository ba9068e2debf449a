#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "daemon/agent/context.hpp"

namespace kubexm::agent {

/// Keeps AgentState::facts current; nothing else changes them. The names of the host and of the
/// machine stay those of the start.
class FactsMonitor {
public:
    /// The facts of the host with this name.
    using Read = std::function<Result<model::HostFacts>(const std::string& name)>;
    FactsMonitor(AgentContext& context, Read read);

    /// The kernel reported a change of links, addresses or routes, perhaps of pods only: reads the
    /// facts soon.
    void on_links();
    /// Reads the facts where they are an hour old: nobody reports a change of CPUs and memory.
    void on_wakeup();

private:
    void read();

    AgentContext& context_;
    Read read_;
    Loop::Handle soon_;
    std::chrono::sys_seconds last_;
};

}  // namespace kubexm::agent
