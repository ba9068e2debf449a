#pragma once

#include <string>

#include "daemon/base/error.hpp"
#include "daemon/config/rules.hpp"
#include "daemon/config/settings.hpp"

namespace kubexm::config {

/// The way to the privileged side.
struct ExecutorConnection {
    std::string socket = "/run/kubexm-executor/executor.sock";

    bool operator==(const ExecutorConnection&) const = default;
    static void fields(auto& self, auto&& visit) { visit("socket", self.socket, socket_path); }
};

/// The cluster that says which cluster this host belongs to.
struct Management {
    std::string bootstrap_kubeconfig;    // empty: systemd's credential "bootstrap-kubeconfig"
    std::string namespace_ = "default";  // of the ByoHost

    bool operator==(const Management&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("bootstrap_kubeconfig", self.bootstrap_kubeconfig, path_or_nothing);
        visit("namespace", self.namespace_, namespace_name);
    }
};

struct Host {
    std::string name;  // empty: the host name

    bool operator==(const Host&) const = default;
    static void fields(auto& self, auto&& visit) { visit("name", self.name, host_name_or_nothing); }
};

struct LocalApi {
    std::string listen = "127.0.0.1:10240";
    std::string socket = "/run/kubexm/kubexmd.sock";

    bool operator==(const LocalApi&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("listen", self.listen, loopback_address);
        visit("socket", self.socket, socket_path);
    }
};

/// What kubexmd is told by /etc/kubexm/kubexmd.yaml and kubexmd.yaml.d. Nothing in it is secret.
struct Config {
    LogSettings log;
    Management management;
    Host host;
    LocalApi api;
    ExecutorConnection executor;
    std::string state = "/var/lib/kubexm";
    Origins origins;

    bool operator==(const Config&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("log", self.log);
        visit("management", self.management);
        visit("host", self.host);
        visit("api", self.api);
        visit("executor", self.executor);
        visit("state", self.state, absolute_path);
    }
};

/// Reads `file`, then every *.yaml of `drop_in_directory` in lexical order: a later value wins, a
/// list is replaced as a whole. What is missing is no error: its defaults hold. Otherwise all
/// that is wrong in all files is said at once, a line each: file, line, column, what was expected.
/// invalid: a file is not as it should be. Another code: the first problem was in reading one.
Result<Config> load(const std::string& file, const std::string& drop_in_directory);

/// The whole configuration as YAML, with the file each value that is no built-in default is from.
std::string effective(const Config& config);

}  // namespace kubexm::config
