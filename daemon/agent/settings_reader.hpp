#pragma once

#include <memory>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/agent/management.hpp"
#include "daemon/agent/secret_reader.hpp"

namespace kubexm::agent {

/// Keeps AgentState::settings of a joined host fresh: a host may only get its secret, not watch
/// it. Reads it after each change of the orders, after the node's certificate or the server's CA
/// was refused, and hourly.
class SettingsReader {
public:
    SettingsReader(AgentContext& context, Management& management)
        : context_(context), management_(management) {}

    /// After a change of the AgentState.
    void update();
    void stop();

private:
    void read();
    void read_later();

    AgentContext& context_;
    Management& management_;
    std::string orders_;        // of the last reading
    bool was_refused_ = false;  // the node's certificate, or the server's, at the last reading
    std::unique_ptr<SecretReader> reader_;
    Loop::Handle timer_;
};

}  // namespace kubexm::agent
