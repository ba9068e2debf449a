#include "daemon/cli/operations.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "daemon/cli/api_client.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/json_document.hpp"
#include "daemon/cli/release_progress.hpp"
#include "daemon/cli/root_release.hpp"

namespace kubexm::cli {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kSilence = 60s;  // a restart of kubexmd is much shorter
constexpr timespec kPollInterval{.tv_sec = 0, .tv_nsec = 500'000'000};

/// Holds SIGINT back, so that it ends only a wait.
class InterruptibleWait {
public:
    InterruptibleWait() {
        ::sigemptyset(&interrupt_);
        ::sigaddset(&interrupt_, SIGINT);
        ::pthread_sigmask(SIG_BLOCK, &interrupt_, &before_);
    }
    InterruptibleWait(const InterruptibleWait&) = delete;
    InterruptibleWait& operator=(const InterruptibleWait&) = delete;
    ~InterruptibleWait() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

    /// False: Ctrl-C.
    bool pause() const { return ::sigtimedwait(&interrupt_, nullptr, &kPollInterval) != SIGINT; }

private:
    sigset_t interrupt_{};
    sigset_t before_{};
};

void print_now(const std::string& text) {
    fmt::print("{}", text);
    std::fflush(stdout);  // for readers of a pipe
}

/// Whether kubexmd does something about the command now; false: there is nothing to do.
Result<bool> submit(const OperationSockets& sockets, const model::Command& command) {
    const auto answer =
        post_api(sockets.control, "/v1/operations", model::to_json(command), sockets.patience);
    if (answer) {
        print_now(word(*answer, "text") + "\n");
        return true;
    }
    if (answer.error().code != Code::not_found) return std::unexpected(answer.error());
    print_now(answer.error().what + "\n");
    return false;
}

/// Only a leave is possible without kubexmd, whether it is to be waited for or not. Never past a
/// kubexmd that lives and is slow: it would drain and remove the Node.
Result<int> without_kubexmd(const OperationSockets& sockets, const model::Command& command,
                            const Error& error) {
    if (command.verb != model::Verb::leave) return std::unexpected(error);
    if (error.code == Code::timeout) {
        return fail(error.code,
                    error.what + "; to leave without kubexmd, first run systemctl stop kubexmd");
    }
    if (error.code != Code::unavailable) return std::unexpected(error);
    print_now(fmt::format("{}; kubexm-executor is asked instead\n", error.what));
    return release_as_root(sockets.executor);
}

/// Ctrl-C ends the showing only.
Result<int> show_release(const OperationSockets& sockets, const InterruptibleWait& wait) {
    ReleaseProgress progress;
    auto answered = Clock::now();
    for (;;) {
        const auto status = ask_api(sockets.control, "/v1/status");
        if (status) {
            answered = Clock::now();
            print_now(progress.update(*status));
        } else if (Clock::now() - answered > kSilence) {
            return std::unexpected(status.error());
        }
        if (const auto code = progress.end()) return *code;
        if (!wait.pause()) {
            print_now("kubexmd goes on with the release; see kubexmctl status.\n");
            return kInterrupted;
        }
    }
}

}  // namespace

Result<int> operate(const OperationSockets& sockets, const model::Command& command) {
    const auto accepted = submit(sockets, command);
    if (!accepted) return without_kubexmd(sockets, command, accepted.error());
    return kDone;
}

Result<int> leave(const OperationSockets& sockets) {
    const model::Command command{.verb = model::Verb::leave};
    std::optional<InterruptibleWait> wait(std::in_place);
    const auto leaves = submit(sockets, command);
    if (leaves && *leaves) return show_release(sockets, *wait);
    wait.reset();
    if (!leaves) return without_kubexmd(sockets, command, leaves.error());
    return kDone;
}

}  // namespace kubexm::cli
