#include "daemon/agent/waiting_checks.hpp"

#include <algorithm>

#include "daemon/agent/join_checks.hpp"

namespace kubexm::agent {

namespace {

constexpr std::chrono::minutes kCheckEvery{5};

/// No node is here, and none is made: a join has checks of its own.
bool is_free(const AgentState& state) {
    const auto& decision = state.decision;
    const bool joins =
        decision && (decision->action == Action::join || decision->action == Action::adopt);
    return !joins && state.executor.observed && state.executor.observed->present_machines().empty();
}

/// Later orders may allow swap or other control groups: these findings do not count yet.
std::vector<model::Finding> without_orders(std::vector<model::Finding> findings) {
    std::erase_if(findings, [](const model::Finding& each) {
        return each.id == model::CheckId::cgroup_driver || each.id == model::CheckId::swap_on;
    });
    return findings;
}

}  // namespace

void WaitingChecks::update() {
    const AgentState& state = context_.state.read();
    if (!state.executor.observed) return;  // it was asked
    if (!is_free(state)) return stop();
    if (next_) return;
    if (!state.preflight.empty()) {  // of the last join
        context_.state.change([](AgentState& changed) { changed.preflight.clear(); });
    }
    check();
}

void WaitingChecks::stop() {
    next_.reset();
    name_.reset();
    late_name_.reset();
    result_.reset();
}

void WaitingChecks::check() {
    auto timer = context_.loop.after(kCheckEvery, [this] { check(); });
    if (timer) next_ = *std::move(timer);
    // A thread that wakes up: not again while the name servers answer.
    if (!name_ || late_name_) look_up_name();
    context_.executor.ask(wire::Preflight{{.node_name = context_.facts().name}}, {},
                          lifetime_.guard([this](const Result<wire::Reply>& reply) {
                              const auto* result =
                                  reply ? std::get_if<wire::PreflightResult>(&*reply) : nullptr;
                              if (result == nullptr) return;
                              result_ = *result;
                              publish();
                          }));
}

void WaitingChecks::look_up_name() {
    name_ = std::make_unique<NameCheck>(context_, context_.facts().name,
                                        [this](std::optional<model::Finding> late) {
                                            late_name_ = std::move(late);
                                            publish();
                                        });
    name_->start();
}

void WaitingChecks::publish() {
    if (!result_ || !is_free(context_.state.read())) return;
    auto findings = without_orders(result_->findings);
    if (const auto offset = management_.clock_offset()) {
        if (auto clock = clock_finding(*offset)) findings.push_back(*std::move(clock));
    }
    if (late_name_) findings.push_back(*late_name_);
    std::erase_if(findings, [this](const model::Finding& each) {
        return std::ranges::find(result_->ignored, name_of(each.id)) != result_->ignored.end();
    });
    if (context_.state.read().preflight == findings) return;
    context_.state.change([&](AgentState& state) { state.preflight = std::move(findings); });
}

}  // namespace kubexm::agent
