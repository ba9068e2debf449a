#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "daemon/agent/context.hpp"

namespace kubexm::agent {

/// Keeps AgentState::facts current; nothing else changes them. A host without a certificate follows
/// its name; then the name stays, and AgentState::present_name says that the host has another one.
/// The machine-id stays that of the start.
class FactsMonitor {
public:
    /// The facts of the host with this name.
    using Read = std::function<Result<model::HostFacts>(const std::string& name)>;
    /// The name that the host would enrol with now.
    using ReadName = std::function<Result<std::string>()>;
    FactsMonitor(AgentContext& context, Read read, ReadName read_name);

    /// The kernel reported a change of links, addresses or routes, perhaps of pods only: reads the
    /// facts soon.
    void on_links();
    /// Reads the name, and the facts where they are an hour old: no event reports a change of them.
    void on_wakeup();

private:
    void read();
    void update_name();

    AgentContext& context_;
    Read read_;
    ReadName read_name_;
    Loop::Handle soon_;
    std::chrono::sys_seconds last_;
};

}  // namespace kubexm::agent
