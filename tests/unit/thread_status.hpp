#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>

namespace kubexm {

/// A field of /proc/self/task/THREAD/status: "State" is "S (sleeping)".
inline std::string thread_status(pid_t thread, const std::string& name) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/status");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
    }
    return "";
}

/// How often a thread went to sleep: once more after each wakeup.
inline long sleeps_of(pid_t thread) {
    return std::stol(thread_status(thread, "voluntary_ctxt_switches"));
}

}  // namespace kubexm
