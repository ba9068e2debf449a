#include <unistd.h>

#include <chrono>

#include "daemon/base/random.hpp"
#include "daemon/executor/service/service.hpp"

namespace kubexm::executor {

namespace {

constexpr auto kRetryUndosEvery = std::chrono::hours(1);

}  // namespace

/// At the start and every hour: the cause of the failure may be gone.
void Service::retry_unfinished_undos() {
    worker_.query(0, [this] {
        std::vector<std::string> owners;
        const auto unfinished = engine_.unfinished_undos();
        if (!unfinished) return;
        for (const OutcomeRecord& undo : *unfinished) owners.push_back(undo.owner);
        retry_undos(std::move(owners));
    });
    auto timer = loop_.after(kRetryUndosEvery, [this] { retry_unfinished_undos(); });
    if (timer) retry_undos_ = *std::move(timer);
}

/// Worker thread. One waits at a time: the queue has room for the plans of others.
void Service::retry_undos(std::vector<std::string> owners) {
    if (owners.empty()) return;
    const Requester ourselves{.caller = {.uid = 0, .pid = ::getpid()}};
    queue_plan(ourselves, false, [this, owners = std::move(owners), ourselves]() mutable {
        const std::string owner = std::move(owners.back());
        owners.pop_back();
        retry_undos(std::move(owners));
        // By now it may have been done, or the owner may have a newer plan.
        return engine_.undo_again(new_id("undo-again"), owner, ourselves.caller);
    });
}

}  // namespace kubexm::executor
