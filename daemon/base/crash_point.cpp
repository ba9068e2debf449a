#include "daemon/base/crash_point.hpp"

#include <fcntl.h>
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
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing of ours changes the environment of a process
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

void trace(std::string_view name) {
    const std::string file(environment("KUBEXM_CRASH_TRACE"));
    if (file.empty()) return;
    const Fd fd{::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)};
    const std::string line = std::string(name) + "\n";
    // A trace that lacks a line would hide a crash point from the tests.
    if (::write(fd.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        std::abort();
    }
}

/// 0 where the environment does not ask for this name.
int wanted_passage(std::string_view name) {
    const std::string_view wish = environment("KUBEXM_CRASH_AT");
    const auto colon = wish.rfind(':');
    if (colon == std::string_view::npos || wish.substr(0, colon) != name) return 0;
    int passage = 0;
    std::from_chars(wish.data() + colon + 1, wish.data() + wish.size(), passage);
    return passage;
}

}  // namespace

void crash_point(std::string_view name) {
    static std::atomic<int> passages = 0;  // of the one name that is asked for
    trace(name);
    const int wanted = wanted_passage(name);
    if (wanted > 0 && ++passages == wanted) ::kill(::getpid(), SIGKILL);
}

}  // namespace kubexm
