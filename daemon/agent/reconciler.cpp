#include "daemon/agent/reconciler.hpp"

#include <fmt/format.h>

#include "daemon/agent/conditions.hpp"
#include "daemon/base/crash_point.hpp"
#include "daemon/base/log.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;
using model::Phase;

/// Whether the management cluster asks for the same as before; what we report ourselves does not
/// count.
bool same_orders(model::HostRecord a, const model::HostRecord& b) {
    a.resource_version = b.resource_version;
    a.conditions = b.conditions;
    return a == b;
}

/// What a person or a change has to mend, as opposed to what may pass.
bool needs_somebody(Code code) {
    return code == Code::invalid || code == Code::denied || code == Code::conflict ||
           code == Code::corrupt;
}

Phase phase_of(const Decision& decision) {
    switch (decision.move) {
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

/// Names of the files that are kept for machines.
std::vector<std::string> kept_files(const CredentialStore& store) {
    auto names = store.names();
    if (!names) log::warning(names.error().what);
    std::vector<std::string> files = names ? *std::move(names) : std::vector<std::string>();
    std::erase_if(files, [](const std::string& name) { return !name.starts_with(kOwnerPrefix); });
    return files;
}

std::string owner_in(const std::string& file) { return file.substr(0, file.find('.')); }

/// A node that was released while we were killed is known by what we kept for it.
std::string kept_owner(const CredentialStore& store) {
    const auto files = kept_files(store);
    return files.empty() ? "" : owner_in(files.front());
}

/// What is kept for other machines is of no use any more: a release is over when we get here.
void forget_all_but(const std::string& owner, const CredentialStore& store) {
    for (const std::string& file : kept_files(store)) {
        if (owner_in(file) == owner) continue;
        if (auto gone = store.remove(file); !gone) log::warning(gone.error().what);
    }
}

/// Whether a decision says for whom this host is, or that it is nobody's.
bool settles_owner(const Decision& decision) {
    return decision.move == Action::wait || decision.move == Action::join ||
           decision.move == Action::maintain;
}

}  // namespace

Reconciler::Reconciler(AgentContext& context, Management& management)
    : context_(context),
      management_(management),
      reporter_(context),
      look_(context),
      glance_(context),
      backoff_(1s, 5min) {}

void Reconciler::on_host(const model::HostRecord& host) {
    const bool changed = !host_ || !same_orders(*host_, host);
    host_ = host;
    reporter_.on_host(management_.api(), host);
    if (!changed) return;
    backoff_.reset();
    // What failed may go well with the new orders; what is not made yet is made as they say.
    if (retry_ || joining_) current_.reset();
    look();
}

void Reconciler::on_management_lost() {
    stop();
    current_.reset();
    host_.reset();
    reporter_.forget_host();
}

void Reconciler::on_executor(const Result<>& answer) {
    context_.status.set(
        answer ? is_true(kExecutorAvailable, "")
               : is_false(kExecutorAvailable, "Warning", "NoAnswer", answer.error().what));
    if (answer) look();
}

void Reconciler::refresh() {
    if (glancing_) return;
    glancing_ = true;
    glance_.start([this](const Result<ExecutorState>& state) {
        glancing_ = false;
        on_glance(state);
    });
}

/// Root may have changed what is on the host. What we do ourselves ends with a look of its own.
void Reconciler::on_glance(const Result<ExecutorState>& state) {
    if (!state || !executor_ || is_busy() || *executor_ == *state) return;
    executor_ = *state;
    decide_again();
}

bool Reconciler::is_busy() const { return follow_ || joining_ || releasing_; }

/// What was known is not true any more: nothing is decided until it is known again.
void Reconciler::look() {
    executor_.reset();
    look_.start([this](const Result<ExecutorState>& state) {
        if (!state) return look_later(state.error());
        context_.status.set(is_true(kExecutorAvailable, ""));
        executor_ = *state;
        decide_again();
    });
}

/// They may refuse on a connection that stays good: nothing else would make us ask again.
void Reconciler::look_later(const Error& why) {
    log::warning("the executor does not tell what is on this host: " + why.what);
    context_.status.set(is_false(kExecutorAvailable, "Warning", "NoAnswer", why.what));
    auto timer = context_.loop.after(backoff_.next(), [this] { look(); });
    if (timer) look_again_ = *std::move(timer);
}

void Reconciler::decide_again() {
    if (!host_ || !executor_) return;
    const Decision decision = decide(*host_, *executor_);
    if (current_ == decision) return;
    // Less and less is there while it is given back, and new orders come in several patches.
    if (releasing_ && !retry_ && decision.move == Action::release) return;
    stop();
    current_ = decision;
    if (settles_owner(decision)) forget_all_but(decision.owner, context_.store);
    show(decision);
    begin(decision);
}

void Reconciler::stop() {
    retry_.reset();
    follow_.reset();
    joining_.reset();
    if (tending_) context_.status.drop(kNodeReady);  // nobody looks at the Node any more
    tending_.reset();
    releasing_.reset();
}

void Reconciler::show(const Decision& decision) {
    context_.status.change([&](model::Snapshot& now) {
        now.phase = phase_of(decision);
        now.assignment = assignment_of(*host_);
    });
    show_hold(decision);
    if (decision.move != Action::wait && decision.move != Action::refuse) return;
    const bool calm = decision.move == Action::wait;
    reporter_.set(
        is_false(kBootstrapped, calm ? "Info" : "Warning", decision.reason, decision.message));
}

/// Apart from how the node is, which may run well while its orders do not fit.
void Reconciler::show_hold(const Decision& decision) {
    if (decision.move == Action::ignore || decision.move == Action::refuse) return;
    if (decision.move != Action::hold) return reporter_.mend(kAssignmentApplied);
    reporter_.set(is_false(kAssignmentApplied, "Warning", decision.reason, decision.message));
}

void Reconciler::begin(const Decision& decision) {
    log::notice(fmt::format("decided: {}{}{}", name_of(decision.move),
                            decision.owner.empty() ? "" : " for " + decision.owner,
                            decision.message.empty() ? "" : ": " + decision.message));
    if (decision.move == Action::join) return join(decision.owner);
    if (decision.move == Action::maintain) return tend(decision.owner);
    if (decision.move == Action::hold && executor_ && executor_->has(decision.owner)) {
        return tend(decision.owner);
    }
    if (decision.move == Action::release) {
        return release(decision.owner.empty() ? kept_owner(context_.store) : decision.owner);
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
                                             look();
                                         });
    joining_->start();
}

/// Ours from before a restart, or somebody else's: however it ends, the host decides what is next.
void Reconciler::follow(const std::string& plan) {
    follow_ = std::make_unique<PlanRun>(context_, [this](const Result<>&) {
        current_.reset();
        look();
    });
    follow_->follow(plan);
}

void Reconciler::tend(const std::string& owner) {
    tending_ = std::make_unique<NodeMonitor>(
        context_, owner,
        NodeMonitor::Listener{[this](const Result<model::NodeRecord>& node) { on_node(node); },
                              [this](const Error& error) {
                                  context_.status.set(
                                      is_unknown(kNodeReady, "NoAnswer", error.what));
                              }});
    auto started = tending_->start();
    if (started) return;
    log::warning(started.error().what);
    // With a new certificate, where the secret is still good for one.
    if (current_ && current_->move == Action::maintain) join(owner);
}

void Reconciler::on_node(const Result<model::NodeRecord>& node) {
    if (!node) {
        return context_.status.set(is_false(kNodeReady, "Warning", "NotReady", node.error().what));
    }
    crash_point("node.ready");
    context_.status.set(is_true(kNodeReady, fmt::format("Node {} is Ready", context_.facts.name)));
    if (current_ && current_->move == Action::maintain) {
        context_.status.change([](model::Snapshot& now) { now.phase = Phase::joined; });
    }
    reporter_.set(is_true(
        kInstalled, fmt::format("kubelet {}, {}", node->kubelet_version, node->runtime_version)));
    reporter_.set(is_true(kBootstrapped, fmt::format("Node {} with machine-id {} was seen Ready",
                                                     context_.facts.name, node->machine_id)));
}

void Reconciler::release(const std::string& owner) {
    if (owner.empty()) return on_released("");
    releasing_ = std::make_unique<Releasing>(
        context_, owner, [this](const Result<std::string>& outcome) { on_released(outcome); });
    releasing_->start();
}

void Reconciler::on_released(const Result<std::string>& about_node) {
    if (!about_node) return fail_activity(about_node.error());
    executor_.reset();  // the host has changed: the patches below are decided upon after a look
    context_.status.change([](model::Snapshot& now) {
        std::erase_if(now.certificates, [](const auto& each) { return each.name == "node"; });
    });
    const std::string message = about_node->empty() ? "the host is as it was" : *about_node;
    reporter_.free_host({is_false(kBootstrapped, "Info", kNodeAbsent, message),
                         is_false(kInstalled, "Info", kNodeAbsent, "")},
                        [this](bool freed) {
                            if (!freed) return retry_later();
                            backoff_.reset();
                            context_.loop.post([this] {
                                releasing_.reset();
                                look();
                            });
                        });
}

void Reconciler::fail_activity(const Error& error) {
    log::warning(error.what);
    const bool join = current_ && current_->move != Action::release;
    if (needs_somebody(error.code)) {
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
        look();
    });
    if (timer) retry_ = *std::move(timer);
}

}  // namespace kubexm::agent
