#pragma once

#include <map>
#include <string>

#include "tests/unit/daemon/executor/host/scratch.hpp"

namespace kubexm::executor {

/// Inode, mode and change time of every object outside: any change shows.
inline std::map<std::string, std::string> canaries(const fs::path& outside) {
    std::map<std::string, std::string> seen;
    const auto add = [&seen](const fs::path& path) {
        const struct stat now = status_of(path);
        seen[path] = std::to_string(now.st_ino) + " " + std::to_string(now.st_mode) + " " +
                     std::to_string(now.st_ctim.tv_sec) + "." + std::to_string(now.st_ctim.tv_nsec);
    };
    add(outside);
    for (const auto& entry : fs::recursive_directory_iterator(outside)) add(entry.path());
    return seen;
}

}  // namespace kubexm::executor
