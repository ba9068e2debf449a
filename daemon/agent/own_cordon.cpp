#include "daemon/agent/own_cordon.hpp"

#include <nlohmann/json.hpp>

#include "daemon/base/log.hpp"
#include "daemon/kube/node.hpp"

namespace kubexm::agent {

namespace {

bool is_maintained(const AgentState& state, const std::string& owner) {
    return state.decision && state.decision->owner == owner &&
           state.decision->action == Action::maintain;
}

}  // namespace

void OwnCordon::update() {
    const AgentState& state = context_.state.read();
    if (!state.memory.cordoned || call_ || retry_ || !is_maintained(state, owner_)) return;
    if (!state.node || !state.node->record) return;
    if (state.node->record->uid != *state.memory.cordoned) return forget();  // it was replaced
    uncordon();
}

/// Also where the Node is not seen cordoned: the request for it may still be on its way.
void OwnCordon::uncordon() {
    call_ =
        api_.merge_patch(kube::node_path(context_.facts().name), kube::uncordon_patch(),
                         [this](const kube::Answer<nlohmann::json>& answer) { on_answer(answer); });
}

void OwnCordon::on_answer(const kube::Answer<nlohmann::json>& answer) {
    const kube::Api::Handle ended = std::move(call_);  // keeps the callback until the end
    if (answer) {
        log::notice("the release was cancelled: the Node takes pods again");
        return forget();
    }
    log::warning("cannot uncordon the Node yet: " + answer.error().error.what);
    auto timer = context_.loop.after(backoff_.next(context_.random()), [this] {
        retry_.reset();
        update();
    });
    if (timer) retry_ = *std::move(timer);
}

void OwnCordon::forget() {
    backoff_.reset();
    std::ignore = remember(context_, [](Memory& memory) { memory.cordoned.reset(); });
}

}  // namespace kubexm::agent
