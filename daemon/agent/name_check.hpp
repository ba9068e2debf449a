#pragma once

#include <functional>
#include <optional>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/model/preflight.hpp"

namespace kubexm::agent {

/// Whether the host's name is looked up quickly: kubelet waits for it before it registers.
/// Destroying it cancels it.
class NameCheck {
public:
    using Done = std::function<void(std::optional<model::Finding>)>;
    NameCheck(AgentContext& context, std::string name, Done done);
    NameCheck(const NameCheck&) = delete;
    NameCheck& operator=(const NameCheck&) = delete;

    /// `done` comes later, once.
    void start();

private:
    void end(bool is_late);

    AgentContext& context_;
    std::string name_;
    Done done_;
    Loop::Handle lookup_;
    Loop::Handle patience_;
};

}  // namespace kubexm::agent
