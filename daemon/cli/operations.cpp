#include "daemon/cli/operations.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "daemon/base/try.hpp"
#include "daemon/cli/api_client.hpp"
#include "daemon/cli/document.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/node_owners.hpp"
#include "daemon/cli/release_progress.hpp"

namespace kubexm::cli {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kSilence = 60s;  // a restart of kubexmd is much shorter
constexpr timespec kBetweenLooks{.tv_sec = 0, .tv_nsec = 500'000'000};

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
    bool pause() const { return ::sigtimedwait(&interrupt_, nullptr, &kBetweenLooks) != SIGINT; }

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
    const auto answer = post_api(sockets.control, "/v1/operations", model::to_json(command));
    if (answer) {
        print_now(word(*answer, "text") + "\n");
        return true;
    }
    const Error& error = answer.error();
    if (error.code == Code::not_found) {
        print_now(error.what + "\n");
        return false;
    }
    if (command.verb != model::Verb::leave || error.code != Code::unavailable) {
        return std::unexpected(error);
    }
    const auto owners = node_owners(sockets.executor);
    return fail(error.code, fmt::format("{}, then kubexmctl leave again\n{}", error.what,
                                        without_kubexmd(owners)));
}

}  // namespace

Result<int> operate(const OperationSockets& sockets, const model::Command& command) {
    TRY(submit(sockets, command));
    return kDone;
}

Result<int> leave(const OperationSockets& sockets) {
    const InterruptibleWait wait;
    const bool leaves = TRY(submit(sockets, {.verb = model::Verb::leave}));
    if (!leaves) return kDone;
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

}  // namespace kubexm::cli
