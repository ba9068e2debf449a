#pragma once

#include <string>

#include "daemon/base/error.hpp"
#include "daemon/config/rules.hpp"
#include "daemon/config/settings.hpp"
#include "daemon/model/allow.hpp"

namespace kubexm::config {

/// The allow-lists with their keys in the file. An empty list allows nothing.
struct Allowed : model::AllowList {
    /// The defaults are those of a Kubernetes node.
    Allowed();

    bool operator==(const Allowed&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("steps", self.steps, kStepType);
        visit("documents", self.documents, kDocumentType);
        visit("clusters", self.clusters, kAllowedServer);
        visit("registries", self.registries, kAllowedRegistry);
        visit("directories", self.directories, kAbsolutePath);
        visit("units", self.units, kUnitName);
        visit("sysctls", self.sysctls, kAllowedSysctlPattern);
        visit("modules", self.modules, kModuleName);
        visit("links", self.links, kLinkName);
        visit("executables", self.executables, kAbsolutePath);
        visit("components", self.components, kComponentName);
    }
};

struct PreflightSettings {
    std::vector<std::string> ignore;  // checks that do not refuse a join

    bool operator==(const PreflightSettings&) const = default;
    static void fields(auto& self, auto&& visit) { visit("ignore", self.ignore, kCheckId); }
};

/// The settings of /etc/kubexm/executor.yaml, which root writes.
struct ExecutorConfig {
    LogSettings log;
    std::string state = "/var/lib/kubexm-executor";
    std::string agent_user = "kubexm";  // besides root, the only user whose plans are accepted
    std::string trust = "/etc/kubexm/trusted.sha256";
    PreflightSettings preflight;
    Allowed allow;
    Origins origins;

    bool operator==(const ExecutorConfig&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("log", self.log);
        visit("state", self.state, kAbsolutePath);
        visit("agent_user", self.agent_user, kUserName);
        visit("trust", self.trust, kAbsolutePath);
        visit("preflight", self.preflight);
        visit("allow", self.allow);
    }
};

/// As load(), without drop-ins, and with the digests of the file that `trust` names. denied: a
/// user other than root can write one of the files.
Result<ExecutorConfig> load_executor(const std::string& file);

std::string effective(const ExecutorConfig& config);

}  // namespace kubexm::config
