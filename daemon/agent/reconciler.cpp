#include "daemon/agent/reconciler.hpp"

#include <fmt/format.h>

#include "daemon/agent/conditions.hpp"
#include "daemon/base/crash_point.hpp"
#include "daemon/base/log.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;
using model::Phase;

/// Ignores the conditions, which kubexmd writes itself.
bool same_orders(model::HostRecord a, const model::HostRecord& b) {
    a.resource_version = b.resource_version;
    a.conditions = b.conditions;
    return a == b;
}

/// Whether a retry alone cannot succeed.
bool needs_action(Code code) {
    return code == Code::invalid || code == Code::denied || code == Code::conflict ||
           code == Code::corrupt;
}

Phase phase_of(const Decision& decision) {
    switch (decision.action) {
        case Action::ignore:
            return Phase::paused;
        case Action::wait:
            return decision.owner.empty() ? Phase::waiting : Phase::joining;
        case Action::refuse:
            return Phase::failed;
        case Action::hold:
            return Phase::held;
        case Action::join:
        case Action::maintain:
            return Phase::joining;
        case Action::release:
            return Phase::releasing;
    }
    return Phase::failed;
}

std::optional<model::AssignmentView> assignment_of(const model::HostRecord& host) {
    if (!host.machine) return std::nullopt;
    return model::AssignmentView{.cluster = host.cluster,
                                 .machine = host.machine->namespace_ + "/" + host.machine->name,
                                 .uid = host.machine->uid,
                                 .server = "",
                                 .version = host.version};
}

/// Names of the files of machines.
std::vector<std::string> machine_files(const CredentialStore& store) {
    auto names = store.names();
    if (!names) log::warning(names.error().what);
    std::vector<std::string> files = names ? *std::move(names) : std::vector<std::string>();
    std::erase_if(files, [](const std::string& name) { return !name.starts_with(kOwnerPrefix); });
    return files;
}

std::string owner_in(const std::string& file) { return file.substr(0, file.find('.')); }

/// The owner whose release a kill has interrupted after the undo.
std::string stored_owner(const CredentialStore& store) {
    const auto files = machine_files(store);
    return files.empty() ? "" : owner_in(files.front());
}

/// Other machines were released before: their credentials are useless.
void remove_all_but(const std::string& owner, const CredentialStore& store) {
    for (const std::string& file : machine_files(store)) {
        if (owner_in(file) == owner) continue;
        if (auto removed = store.remove(file); !removed) log::warning(removed.error().what);
    }
}

/// Whether a decision determines the owner of this host, or that it has none.
bool settles_owner(const Decision& decision) {
    return decision.action == Action::wait || decision.action == Action::join ||
           decision.action == Action::maintain;
}

}  // namespace

Reconciler::Reconciler(AgentContext& context, Management& management)
    : context_(context),
      management_(management),
      reporter_(context),
      probe_(context),
      refresh_probe_(context),
      backoff_(1s, 5min) {}

void Reconciler::on_host(const model::HostRecord& host) {
    const bool changed = !host_ || !same_orders(*host_, host);
    host_ = host;
    reporter_.on_host(management_.api(), host);
    if (!changed) return;
    backoff_.reset();
    // A failed activity may succeed with the new orders; a running join must use them.
    if (retry_ || joining_) current_.reset();
    observe();
}

void Reconciler::on_management_lost() {
    stop();
    current_.reset();
    host_.reset();
    reporter_.forget_host();
}

void Reconciler::on_executor(const Result<>& connected) {
    context_.status.set(
        connected ? is_true(kExecutorAvailable, "")
                  : is_false(kExecutorAvailable, "Warning", "NoAnswer", connected.error().what));
    if (connected) observe();
}

void Reconciler::refresh() {
    if (is_refreshing_) return;
    is_refreshing_ = true;
    refresh_probe_.start([this](const Result<ExecutorState>& state) {
        is_refreshing_ = false;
        on_refreshed(state);
    });
}

/// Root may have changed the host. An activity of ours ends with its own observation.
void Reconciler::on_refreshed(const Result<ExecutorState>& state) {
    if (!state || !executor_ || is_busy() || *executor_ == *state) return;
    executor_ = *state;
    decide_again();
}

bool Reconciler::is_busy() const { return followed_ || joining_ || releasing_; }

/// The last observation is stale: no decision until the fresh one arrives.
void Reconciler::observe() {
    executor_.reset();
    probe_.start([this](const Result<ExecutorState>& state) {
        if (!state) return observe_later(state.error());
        context_.status.set(is_true(kExecutorAvailable, ""));
        executor_ = *state;
        if (const std::string plan = unseen_end(); !plan.empty()) return follow(plan);
        decide_again();
    });
}

/// The plan that the Snapshot shows as running although it ended while the executor was away.
std::string Reconciler::unseen_end() const {
    const auto snapshot = context_.status.read();
    const auto& shown = snapshot->plan;
    if (!executor_ || !shown || shown->state != "running") return "";
    const auto& last = executor_->last;
    if (!last || last->plan_id != shown->id || last->state == "running") return "";
    return shown->id;
}

/// The executor may refuse while the connection stays: without a timer nothing would ask again.
void Reconciler::observe_later(const Error& why) {
    log::warning("cannot observe the host: " + why.what);
    context_.status.set(is_false(kExecutorAvailable, "Warning", "NoAnswer", why.what));
    auto timer = context_.loop.after(backoff_.next(), [this] { observe(); });
    if (timer) observe_again_ = *std::move(timer);
}

void Reconciler::decide_again() {
    if (!host_ || !executor_) return;
    const Decision decision = decide(*host_, *executor_);
    if (current_ == decision) return;
    // During a release the observed owners shrink, and the ByoHost is freed in several patches: do
    // not start the release again because of that.
    if (releasing_ && !retry_ && decision.action == Action::release) return;
    stop();
    current_ = decision;
    if (settles_owner(decision)) remove_all_but(decision.owner, context_.store);
    show(decision);
    begin(decision);
}

void Reconciler::stop() {
    retry_.reset();
    followed_.reset();
    joining_.reset();
    if (monitor_) context_.status.drop(kNodeReady);
    monitor_.reset();
    releasing_.reset();
}

void Reconciler::show(const Decision& decision) {
    context_.status.change([&](model::Snapshot& now) {
        now.phase = phase_of(decision);
        now.assignment = assignment_of(*host_);
    });
    report_hold(decision);
    if (decision.action != Action::wait && decision.action != Action::refuse) return;
    const char* severity = decision.action == Action::wait ? "Info" : "Warning";
    reporter_.set(is_false(kBootstrapped, severity, decision.reason, decision.message));
}

/// Independent of the Node's conditions: the node may be Ready while its orders conflict.
void Reconciler::report_hold(const Decision& decision) {
    if (decision.action == Action::ignore || decision.action == Action::refuse) return;
    if (decision.action != Action::hold) return reporter_.resolve(kAssignmentApplied);
    reporter_.set(is_false(kAssignmentApplied, "Warning", decision.reason, decision.message));
}

void Reconciler::begin(const Decision& decision) {
    log::notice(fmt::format("next action: {}{}{}", name_of(decision.action),
                            decision.owner.empty() ? "" : ", owner " + decision.owner,
                            decision.message.empty() ? "" : ": " + decision.message));
    if (decision.action == Action::join) return join(decision.owner);
    if (decision.action == Action::maintain) return monitor(decision.owner);
    if (decision.action == Action::hold && executor_ && executor_->has(decision.owner)) {
        return monitor(decision.owner);
    }
    if (decision.action == Action::release) {
        return release(decision.owner.empty() ? stored_owner(context_.store) : decision.owner);
    }
}

void Reconciler::join(const std::string& owner) {
    if (!host_) return;
    if (executor_ && !executor_->running_plan.empty()) return follow(executor_->running_plan);
    joining_ = std::make_unique<Joining>(context_, management_.api(), management_.ca(), *host_,
                                         owner, [this](const Result<>& outcome) {
                                             if (!outcome) return fail_activity(outcome.error());
                                             backoff_.reset();
                                             current_.reset();
                                             observe();
                                         });
    joining_->start();
}

/// A plan from before a restart, or of another owner: observe and decide again after its end.
void Reconciler::follow(const std::string& plan) {
    followed_ = std::make_unique<PlanRun>(context_, [this](const Result<>&) {
        current_.reset();
        observe();
    });
    followed_->follow(plan);
}

void Reconciler::monitor(const std::string& owner) {
    monitor_ = std::make_unique<NodeMonitor>(
        context_, owner,
        NodeMonitor::Listener{[this](const Result<model::NodeRecord>& node) { on_node(node); },
                              [this](const Error& error) {
                                  context_.status.set(
                                      is_unknown(kNodeReady, "NoAnswer", error.what));
                              }});
    auto started = monitor_->start();
    if (started) return;
    log::warning(started.error().what);
    // A join gets a new certificate, where the bootstrap secret is still valid.
    if (current_ && current_->action == Action::maintain) join(owner);
}

void Reconciler::on_node(const Result<model::NodeRecord>& node) {
    if (!node) {
        return context_.status.set(is_false(kNodeReady, "Warning", "NotReady", node.error().what));
    }
    crash_point("node.ready");
    context_.status.set(is_true(kNodeReady, fmt::format("Node {} is Ready", context_.facts.name)));
    if (current_ && current_->action == Action::maintain) {
        context_.status.change([](model::Snapshot& now) { now.phase = Phase::joined; });
    }
    reporter_.set(is_true(
        kInstalled, fmt::format("kubelet {}, {}", node->kubelet_version, node->runtime_version)));
    reporter_.set(is_true(kBootstrapped, fmt::format("Node {} with machine-id {} became Ready",
                                                     context_.facts.name, node->machine_id)));
}

void Reconciler::release(const std::string& owner) {
    if (owner.empty()) return on_released("");
    releasing_ = std::make_unique<Releasing>(
        context_, owner, [this](const Result<std::string>& outcome) { on_released(outcome); });
    releasing_->start();
}

void Reconciler::on_released(const Result<std::string>& message) {
    if (!message) return fail_activity(message.error());
    executor_.reset();  // stale: the patches below must not lead to a decision
    context_.status.change([](model::Snapshot& now) {
        std::erase_if(now.certificates, [](const auto& each) { return each.name == "node"; });
    });
    reporter_.free_host({is_false(kBootstrapped, "Info", kNodeAbsent,
                                  message->empty() ? "the host was released" : *message),
                         is_false(kInstalled, "Info", kNodeAbsent, "")},
                        [this](bool freed) {
                            if (!freed) return retry_later();
                            backoff_.reset();
                            context_.loop.post([this] {
                                releasing_.reset();
                                observe();
                            });
                        });
}

void Reconciler::fail_activity(const Error& error) {
    log::warning(error.what);
    const bool join = current_ && current_->action != Action::release;
    if (needs_action(error.code)) {
        context_.status.change([](model::Snapshot& now) { now.phase = Phase::failed; });
    }
    reporter_.set(join ? is_false(kBootstrapped, "Error", "CloudInitExecutionFailed", error.what)
                       : is_false(kBootstrapped, "Error", "ReleaseFailed", error.what));
    retry_later();
}

void Reconciler::retry_later() {
    auto timer = context_.loop.after(backoff_.next(), [this] {
        stop();
        current_.reset();
        observe();
    });
    if (timer) retry_ = *std::move(timer);
}

}  // namespace kubexm::agent
