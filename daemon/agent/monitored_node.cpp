#include "daemon/agent/monitored_node.hpp"

#include "daemon/agent/join_strategy.hpp"
#include "daemon/agent/known_node.hpp"
#include "daemon/base/log.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

constexpr auto kRetryAfter = 5min;

/// The machine whose Node is to be watched; empty: none. Until the executor has answered, that of
/// an earlier process.
std::string owner_to_monitor(const AgentState& state) {
    const auto& known = state.executor.known;
    if (state.decision && state.decision->action == Action::release) return "";
    if (!known) {
        const JoinedMachine* node = remembered_node(state);
        return node == nullptr || is_leaving(state) ? "" : node->owner;
    }
    if (state.decision && known->is_joined(state.decision->owner)) return state.decision->owner;
    return known->joined_machine();
}

}  // namespace

MonitoredNode::MonitoredNode(AgentContext& context, std::function<void()> on_plan)
    : context_(context), on_plan_(std::move(on_plan)) {}

void MonitoredNode::update() {
    const std::string owner = owner_to_monitor(context_.state.read());
    if (owner != owner_) return monitor(owner);
    if (monitor_) monitor_->update();
}

void MonitoredNode::on_joined() {
    const bool is_outdated = monitor_ && !monitor_->is_current();
    if (!is_outdated && !context_.state.read().credentials_problem) return;
    owner_.clear();
    forget();
}

void MonitoredNode::forget() {
    monitor_.reset();
    context_.state.change([](AgentState& state) { state.credentials_problem.reset(); });
}

void MonitoredNode::monitor(const std::string& owner) {
    owner_ = owner;
    retry_.reset();
    forget();
    if (owner.empty()) return;
    monitor_ = std::make_unique<NodeMonitor>(context_, strategy_of(context_.state.read(), owner),
                                             owner, on_plan_);
    auto started = monitor_->start();
    if (started) return;
    log::warning(started.error().what);
    monitor_.reset();
    context_.state.change([&](AgentState& state) { state.credentials_problem = started.error(); });
    retry_later();
}

/// The disk may give the node's certificate then.
void MonitoredNode::retry_later() {
    auto timer = context_.loop.after(kRetryAfter, [this] {
        owner_.clear();
        update();
    });
    if (timer) retry_ = *std::move(timer);
}

}  // namespace kubexm::agent
