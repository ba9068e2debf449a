#pragma once

#include <sys/types.h>

#include <filesystem>
#include <set>
#include <string>
#include <thread>

namespace kubexm::http {

inline std::set<pid_t> all_threads() {
    std::set<pid_t> all;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        all.insert(std::stoi(task.path().filename()));
    }
    return all;
}

/// The threads that were started after the first call. The thread sanitizer starts one of its own
/// with the first thread.
inline std::set<pid_t> threads_of_server() {
    static const std::set<pid_t> before = [] {
        std::thread([] {}).join();
        return all_threads();
    }();
    std::set<pid_t> threads = all_threads();
    for (const pid_t other : before) threads.erase(other);
    return threads;
}

}  // namespace kubexm::http
