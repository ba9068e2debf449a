#include "daemon/agent/agent.hpp"

#include "daemon/agent/facts.hpp"

namespace kubexm::agent {

namespace {

model::Snapshot first_snapshot(const model::HostFacts& facts, const std::string& version) {
    return {.host = facts,
            .phase = model::Phase::unconfigured,
            .assignment = std::nullopt,
            .conditions = {},
            .plan = std::nullopt,
            .certificates = {},
            .units = {},
            .version = version};
}

}  // namespace

Result<std::unique_ptr<Agent>> Agent::create(Loop& loop, Options options) {
    auto facts = read_facts(options.host_name);
    if (!facts) return std::unexpected(facts.error());
    auto store = Store::open(options.state);
    if (!store) return std::unexpected(store.error());
    return std::unique_ptr<Agent>(new Agent(loop, std::move(options), *std::move(store), *facts));
}

Agent::Agent(Loop& loop, Options options, Store store, const model::HostFacts& facts)
    : loop_(loop),
      options_(std::move(options)),
      store_(std::move(store)),
      board_(first_snapshot(facts, options_.version), options_.on_change),
      hands_(loop, options_.hands_socket, options_.program,
             [this](const Result<>& answer) {
                 reconciler_.on_hands(answer);
                 options_.on_ready();
             }),
      reports_(loop, options_.hands_socket, options_.program, [](const Result<>&) {}),
      world_{loop_, hands_, reports_, store_, board_, facts, options_.space},
      management_(world_, options_.bootstrap_kubeconfig,
                  {[this](const model::HostRecord& host) { reconciler_.on_host(host); },
                   [this] { reconciler_.on_management_lost(); }}),
      reconciler_(world_, management_) {}

void Agent::start() {
    hands_.start();
    reports_.start();
    management_.start();
}

std::shared_ptr<const model::Snapshot> Agent::snapshot() {
    if (!looking_.exchange(true)) {
        loop_.post([this] {
            looking_ = false;
            reconciler_.refresh();
        });
    }
    return board_.read();
}

}  // namespace kubexm::agent
