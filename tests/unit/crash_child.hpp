#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

// For tests that cut work off at a crash point (daemon/base/crash_point.hpp) in a forked child.

namespace kubexm::crash {

using Work = std::function<void()>;

struct CrashPoint {
    std::string name;
    int passage = 1;

    bool operator==(const CrashPoint&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const CrashPoint& point) {
    return out << point.name << ":" << point.passage;
}

/// Much longer than any work takes.
constexpr unsigned kHangsAfterSeconds = 60;

inline int run_in_child_once(const char* variable, const std::string& value, const Work& work) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(kHangsAfterSeconds);
        ::setenv(variable, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
        [&work]() noexcept { work(); }();      // an exception must not reach the parent's frames
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

/// Runs `work` in a child with one more environment variable; how the child ended, as waitpid says.
/// A thread of the fixture, such as a fake peer, may hold a lock of the sanitizer's allocator at
/// the fork: that child waits for ever in its first allocation, has done nothing, and another is
/// made.
inline int run_in_child(const char* variable, const std::string& value, const Work& work) {
    int status = run_in_child_once(variable, value, work);
    while (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        status = run_in_child_once(variable, value, work);
    }
    return status;
}

/// True where the child died at the point; false where it never passed it.
inline bool dies_at(const CrashPoint& point, const Work& work) {
    const std::string setting = point.name + ":" + std::to_string(point.passage);
    const int status = run_in_child("KUBEXM_CRASH_AT", setting, work);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/// Every point that `work`, done once in a child, passes: in order, each with its passage.
inline std::vector<CrashPoint> crash_points_of(const Work& work) {
    std::string file = (std::filesystem::temp_directory_path() / "kubexm-trace-XXXXXX").string();
    ::close(::mkstemp(file.data()));
    run_in_child("KUBEXM_CRASH_TRACE", file, work);
    std::vector<CrashPoint> points;
    std::map<std::string, int> passages;
    std::ifstream lines(file);
    for (std::string name; std::getline(lines, name);) points.push_back({name, ++passages[name]});
    std::filesystem::remove(file);
    return points;
}

}  // namespace kubexm::crash
