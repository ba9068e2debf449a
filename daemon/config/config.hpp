#pragma once

#include <string>

#include "daemon/base/error.hpp"
#include "daemon/config/rules.hpp"
#include "daemon/config/settings.hpp"

namespace kubexm::config {

/// The way to the privileged side.
struct HandsLink {
    std::string socket = "/run/kubexm-hands/hands.sock";

    bool operator==(const HandsLink&) const = default;
    static void fields(auto& self, auto&& visit) { visit("socket", self.socket, socket_path); }
};

/// What kubexmd is told by /etc/kubexm/kubexmd.yaml and kubexmd.yaml.d. Nothing in it is secret.
struct Config {
    LogSettings log;
    HandsLink hands;
    std::string state = "/var/lib/kubexm";
    Origins origins;

    bool operator==(const Config&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("log", self.log);
        visit("hands", self.hands);
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
