#include "api/http/pending_operations.hpp"

#include <drogon/drogon.h>

#include <utility>

#include "api/http/messages.hpp"
#include "daemon/base/random.hpp"

namespace kubexm::http {

void PendingOperations::submit(model::Command command, Send send) {
    command.id = new_id("operation");
    if (!add(command.id, std::move(send))) return;
    const auto decide = [self = shared_from_this(), id = command.id](
                            const Result<std::string>& decision) { self->answer(id, decision); };
    drogon::app().getIOLoop(0)->runAfter(longest_, [decide] {
        decide(fail(Code::timeout, "no decision in time; see kubexmctl status and try again"));
    });
    run_command_(command, decide);
}

bool PendingOperations::add(const std::string& id, Send send) {
    const std::lock_guard lock(mutex_);
    return !closed_ && pending_.emplace(id, std::move(send)).second;
}

/// The first answer counts. Locked to the end: close() waits, so that the I/O thread still runs.
void PendingOperations::answer(const std::string& id, const Result<std::string>& decision) {
    const std::lock_guard lock(mutex_);
    auto pending = pending_.extract(id);
    if (pending.empty()) return;
    auto response = response_of(api::decided(id, decision));
    drogon::app().getIOLoop(0)->queueInLoop(
        [send = std::move(pending.mapped()), response = std::move(response)] { send(response); });
}

void PendingOperations::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    pending_.clear();
}

}  // namespace kubexm::http
