#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"

namespace kubexm {

/// What our two daemons are told on their command lines.
struct DaemonOptions {
    std::string config;
    bool check_config = false;
    bool version = false;
    bool help = false;
};

/// invalid: names the word that is not known.
Result<DaemonOptions> read_daemon_options(std::span<char* const> words, std::string config);

/// What a daemon says about itself, and the configuration it reads unless it is told another.
struct DaemonText {
    std::string_view name;
    std::string_view usage;
    std::string version;
    std::string config;
};

/// The whole of main(): answers --help and --version, else runs. Returns the process's exit code;
/// an error is logged.
int daemon_main(int argc, char** argv, const DaemonText& text,
                const std::function<Result<int>(const DaemonOptions&)>& run);

}  // namespace kubexm
