#include "daemon/executor/host/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>

#include "daemon/base/fd.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::executor {

namespace {

struct DestroyActions {
    void operator()(posix_spawn_file_actions_t* actions) const {
        ::posix_spawn_file_actions_destroy(actions);
    }
};
struct DestroyAttributes {
    void operator()(posix_spawnattr_t* attributes) const { ::posix_spawnattr_destroy(attributes); }
};

/// The signals that our process blocks are not blocked in the program.
Result<pid_t> spawn(const std::vector<std::string>& argv, int output) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    const std::unique_ptr<posix_spawn_file_actions_t, DestroyActions> own_actions(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    const std::unique_ptr<posix_spawnattr_t, DestroyAttributes> own_attributes(&attributes);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::vector<char*> words;
    words.reserve(argv.size() + 1);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): posix_spawn does not change them
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    // A program in Go would begin a thread for every processor, of which our unit allows few.
    std::string one_processor = "GOMAXPROCS=1";
    std::array<char*, 2> environment{one_processor.data(), nullptr};
    pid_t pid = 0;
    const int problem = ::posix_spawn(&pid, argv.front().c_str(), &actions, &attributes,
                                      words.data(), environment.data());
    if (problem != 0) return from_errno("run", argv.front(), problem);
    return pid;
}

Result<> wait_readable(int fd, const std::string& program, Deadline deadline) {
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        pollfd source{fd, POLLIN, 0};
        const int ready =
            left.count() <= 0 ? 0 : ::poll(&source, 1, static_cast<int>(left.count()));
        if (ready < 0 && errno == EINTR) continue;
        if (ready < 0) return from_errno("poll", program);
        if (ready == 0) {
            return fail(
                Code::timeout,
                fmt::format("{}: expected to end before the deadline; it was killed", program));
        }
        return {};
    }
}

/// Until the program closes its end.
Result<std::string> read_until_end(int fd, const std::string& program, std::size_t limit,
                                   Deadline deadline) {
    std::string text;
    std::array<char, 4096> buffer{};
    for (;;) {
        TRY(wait_readable(fd, program, deadline));
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got < 0) return from_errno("read from", program);
        if (got == 0) return text;
        text.append(buffer.data(), static_cast<std::size_t>(got));
        if (text.size() > limit) {
            return fail(Code::exhausted,
                        fmt::format("{}: expected at most {} bytes of output", program, limit));
        }
    }
}

/// One that does not end in time is killed.
int wait_for_end(pid_t pid, const std::string& program, Deadline deadline) {
    const Fd process{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
    if (process && !wait_readable(process.get(), program, deadline)) ::kill(pid, SIGKILL);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace

Result<std::string> output_of(const std::vector<std::string>& argv, std::size_t limit,
                              Deadline deadline) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return from_errno("make", "pipe");
    const Fd output{ends[0]};
    Fd input{ends[1]};
    const pid_t pid = TRY(spawn(argv, input.get()));
    input = Fd{};
    auto text = read_until_end(output.get(), argv.front(), limit, deadline);
    if (!text) ::kill(pid, SIGKILL);
    const int status = wait_for_end(pid, argv.front(), deadline);
    if (!text) return text;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
    return fail(Code::unavailable,
                WIFEXITED(status)
                    ? fmt::format("{}: ended with exit code {}", argv.front(), WEXITSTATUS(status))
                    : fmt::format("{}: killed by signal {}", argv.front(), WTERMSIG(status)));
}

}  // namespace kubexm::executor
