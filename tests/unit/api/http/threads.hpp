#pragma once

#include <filesystem>
#include <set>
#include <thread>

namespace kubexm::http {

inline std::set<std::filesystem::path> all_threads() {
    std::set<std::filesystem::path> all;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        all.insert(task.path());
    }
    return all;
}

/// The threads that came after the test program itself; the thread sanitizer starts one of its own
/// with the first of them.
inline std::set<std::filesystem::path> threads_of_server() {
    static const std::set<std::filesystem::path> before = [] {
        std::thread([] {}).join();
        return all_threads();
    }();
    std::set<std::filesystem::path> ours = all_threads();
    for (const auto& other : before) ours.erase(other);
    return ours;
}

}  // namespace kubexm::http
