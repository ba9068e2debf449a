#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/agent/management.hpp"
#include "daemon/agent/secret_reader.hpp"
#include "daemon/base/backoff.hpp"

namespace kubexm::agent {

/// Keeps AgentState::settings of a joined host fresh: a host may only get its secret, not watch
/// it. Reads it after each change that others make to the ByoHost, every few seconds at most, and
/// hourly; with back-off after a failure, and while the node's certificate or the server's CA is
/// refused: the secret may be changed after the server.
class SettingsReader {
public:
    SettingsReader(AgentContext& context, Management& management)
        : context_(context), management_(management) {}

    /// After a change of the AgentState.
    void update();
    void stop();

private:
    void read_soon();
    void read();
    void on_read(const Result<kube::BootstrapMaterial>& material);

    AgentContext& context_;
    Management& management_;
    std::string known_;        // HostRecord::others
    bool is_refused_ = false;  // the node's certificate, or the server's
    std::unique_ptr<SecretReader> reader_;
    std::chrono::sys_seconds last_;  // reading
    Loop::Handle soon_;              // a reading for changes since then
    Loop::Handle next_;              // the next one without a change
    Backoff backoff_{std::chrono::seconds(1), std::chrono::minutes(5)};
};

}  // namespace kubexm::agent
