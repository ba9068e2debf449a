#pragma once

#include <string>

#include "daemon/base/error.hpp"
#include "daemon/config/rules.hpp"
#include "daemon/config/settings.hpp"
#include "daemon/model/allow.hpp"

namespace kubexm::config {

/// The allow-lists with their keys in the file. An empty list allows nothing.
struct Allowed : model::AllowList {
    /// The defaults: what a Kubernetes node needs.
    Allowed();

    bool operator==(const Allowed&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("directories", self.directories, absolute_path);
        visit("units", self.units, unit_name);
        visit("sysctls", self.sysctls, sysctl_pattern);
        visit("modules", self.modules, module_name);
        visit("links", self.links, link_name);
        visit("executables", self.executables, absolute_path);
        visit("components", self.components, component_name);
    }
};

/// What root tells the executor in /etc/kubexm/executor.yaml.
struct ExecutorConfig {
    LogSettings log;
    std::string state = "/var/lib/kubexm-executor";
    std::string agent_user = "kubexm";  // whose plans are taken, besides root's
    std::string trust = "/etc/kubexm/trusted.sha256";
    Allowed allow;
    Origins origins;

    bool operator==(const ExecutorConfig&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("log", self.log);
        visit("state", self.state, absolute_path);
        visit("agent_user", self.agent_user, user_name);
        visit("trust", self.trust, absolute_path);
        visit("allow", self.allow);
    }
};

/// As load(), without drop-ins, and with the digests of the file that `trust` names. denied:
/// somebody besides root could have written the file.
Result<ExecutorConfig> load_executor(const std::string& file);

/// As effective() of kubexmd's.
std::string effective(const ExecutorConfig& config);

}  // namespace kubexm::config
