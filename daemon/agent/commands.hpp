#pragma once

#include <functional>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/model/command.hpp"

namespace kubexm::agent {

/// Runs the commands of people. A command changes the memory, on the disk; the next decision
/// follows from it.
class Commands {
public:
    using Done = std::move_only_function<void(Result<std::string>)>;
    explicit Commands(AgentContext& context) : context_(context) {}

    /// A text for the person. conflict: refused, with the reason. unavailable: not known yet.
    Result<std::string> run(const model::Command& command);

private:
    Result<std::string> pause(const model::Command& command);
    Result<std::string> resume();
    Result<std::string> leave(const model::Command& command);
    Result<std::string> adopt(const model::Command& command);
    Result<std::string> repair(const model::Command& command);
    Result<std::string> renew(const model::Command& command);

    AgentContext& context_;
};

}  // namespace kubexm::agent
