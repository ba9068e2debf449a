#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "daemon/executor/service/service.hpp"

namespace kubexm::executor {

namespace {

constexpr auto kRetryUndoEvery = std::chrono::hours(1);

std::string new_retry_id() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return fmt::format("undo-again-{:x}", now / std::chrono::microseconds(1));
}

}  // namespace

/// At the start and every hour: whatever kept an undo from its end may be gone.
void Service::retry_unfinished_undo() {
    worker_.query(0, [this] {
        const auto unfinished = engine_.unfinished_undo();
        if (!unfinished || !*unfinished) return;
        const Requester ourselves{.caller = {.uid = 0, .pid = ::getpid()}};
        // By then it may have been done, or the owner may have a newer plan.
        queue_plan(ourselves, false, [this, caller = ourselves.caller] {
            return engine_.undo_again(new_retry_id(), caller);
        });
    });
    auto timer = loop_.after(kRetryUndoEvery, [this] { retry_unfinished_undo(); });
    if (timer) retry_undo_ = *std::move(timer);
}

}  // namespace kubexm::executor
