#pragma once

#include <string>

#include "daemon/base/error.hpp"
#include "daemon/config/rules.hpp"
#include "daemon/config/settings.hpp"

namespace kubexm::config {

/// The connection to kubexm-executor.
struct ExecutorSettings {
    std::string socket = "/run/kubexm-executor/executor.sock";

    bool operator==(const ExecutorSettings&) const = default;
    static void fields(auto& self, auto&& visit) { visit("socket", self.socket, kSocketPath); }
};

/// The cluster that assigns this host to a cluster.
struct ManagementSettings {
    std::string bootstrap_kubeconfig;    // empty: systemd's credential "bootstrap-kubeconfig"
    std::string namespace_ = "default";  // of the ByoHost

    bool operator==(const ManagementSettings&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("bootstrap_kubeconfig", self.bootstrap_kubeconfig, kOptionalPath);
        visit("namespace", self.namespace_, kDnsLabel);
    }
};

struct Host {
    std::string name;  // empty: the host name

    bool operator==(const Host&) const = default;
    static void fields(auto& self, auto&& visit) { visit("name", self.name, kOptionalHostName); }
};

struct LocalApi {
    std::string listen = "127.0.0.1:10240";  // empty: on the unix sockets of systemd only

    bool operator==(const LocalApi&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("listen", self.listen, kOptionalLoopbackEndpoint);
    }
};

/// Giving the host back.
struct Release {
    std::string pods_timeout = "2m";  // for the end of its pods

    bool operator==(const Release&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("pods_timeout", self.pods_timeout, kPodsTimeout);
    }
};

/// The settings of /etc/kubexm/kubexmd.yaml and kubexmd.yaml.d. None of them is secret.
struct Config {
    LogSettings log;
    ManagementSettings management;
    Host host;
    Release release;
    LocalApi api;
    ExecutorSettings executor;
    std::string state = "/var/lib/kubexm";
    Origins origins;

    bool operator==(const Config&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("log", self.log);
        visit("management", self.management);
        visit("host", self.host);
        visit("release", self.release);
        visit("api", self.api);
        visit("executor", self.executor);
        visit("state", self.state, kAbsolutePath);
    }
};

/// Reads `file`, then every *.yaml of `drop_in_directory` in lexical order: a later value wins, a
/// list is replaced as a whole. A missing file or key means defaults. An error lists all problems
/// of all files, one per line with file, line, column and the expected value; its code is invalid,
/// or that of reading a file if that was the first problem.
Result<Config> load(const std::string& file, const std::string& drop_in_directory);

/// The whole configuration as YAML; a comment names the file of each value that is not a default.
std::string effective(const Config& config);

}  // namespace kubexm::config
