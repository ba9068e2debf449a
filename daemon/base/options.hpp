#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"

namespace kubexm {

/// The command line of both daemons.
struct DaemonOptions {
    std::string config;
    bool check_config = false;
    bool version = false;
    bool help = false;
};

/// invalid: names the unknown word.
Result<DaemonOptions> read_daemon_options(std::span<char* const> words, std::string config);

/// Texts of a daemon, and its default configuration file.
struct DaemonText {
    std::string_view name;
    std::string_view usage;
    std::string version;
    std::string config;
};

/// Handles --help and --version, else calls `run`. Returns the process's exit code; logs an error.
int daemon_main(int argc, char** argv, const DaemonText& text,
                const std::function<Result<int>(const DaemonOptions&)>& run);

}  // namespace kubexm
