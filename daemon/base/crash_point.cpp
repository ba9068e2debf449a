#include "daemon/base/crash_point.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string>

#include "daemon/base/fd.hpp"

namespace kubexm {

namespace {

std::string_view environment(const char* name) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the environment is never changed
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

void trace(std::string_view name) {
    const std::string file(environment("KUBEXM_CRASH_TRACE"));
    if (file.empty()) return;
    const Fd fd{::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)};
    const std::string line = std::string(name) + "\n";
    // An incomplete trace would hide a crash point from the tests.
    if (::write(fd.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        std::abort();
    }
}

/// The passage at which the process is killed.
struct Target {
    std::string_view name;
    int passage = 0;  // 0: none
    int later = 0;    // passages of any name after that
};

Target target_from_environment() {
    const std::string_view text = environment("KUBEXM_CRASH_AT");
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return {};
    Target target{.name = text.substr(0, colon)};
    const char* end = text.data() + text.size();
    const auto number = std::from_chars(text.data() + colon + 1, end, target.passage);
    if (number.ptr != end && *number.ptr == '+') {
        std::from_chars(number.ptr + 1, end, target.later);
    }
    return target;
}

}  // namespace

void crash_point(std::string_view name) {
    static std::atomic<int> passages = 0;  // of the target's name
    static std::atomic<int> since = 0;     // of all names since then
    trace(name);
    const Target target = target_from_environment();
    if (target.passage <= 0) return;
    int later = -1;
    if (passages >= target.passage) {
        later = ++since;
    } else if (name == target.name && ++passages == target.passage) {
        later = 0;
    }
    if (later == target.later) ::kill(::getpid(), SIGKILL);
}

void crash_point(std::string_view name, std::int64_t number) {
    crash_point(fmt::format("{}-{}", name, number));
}

}  // namespace kubexm
