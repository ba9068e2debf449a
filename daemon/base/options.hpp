#pragma once

#include <span>
#include <string>

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

}  // namespace kubexm
