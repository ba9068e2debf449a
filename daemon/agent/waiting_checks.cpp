#include "daemon/agent/waiting_checks.hpp"

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

/// What the orders will say of swap and control groups is not known.
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
    if (!is_free(state)) return next_.reset();
    if (next_) return;
    if (!state.preflight.empty()) {  // of the last join
        context_.state.change([](AgentState& changed) { changed.preflight.clear(); });
    }
    check();
}

void WaitingChecks::check() {
    auto timer = context_.loop.after(kCheckEvery, [this] { check(); });
    if (timer) next_ = *std::move(timer);
    context_.executor.ask(wire::Preflight{{.node_name = context_.facts().name}}, {},
                          lifetime_.guard([this](const Result<wire::Reply>& reply) {
                              const auto* result =
                                  reply ? std::get_if<wire::PreflightResult>(&*reply) : nullptr;
                              if (result == nullptr || !is_free(context_.state.read())) return;
                              auto findings = without_orders(result->findings);
                              if (context_.state.read().preflight == findings) return;
                              context_.state.change([&](AgentState& state) {
                                  state.preflight = std::move(findings);
                              });
                          }));
}

}  // namespace kubexm::agent
