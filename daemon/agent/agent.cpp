#include "daemon/agent/agent.hpp"

#include "daemon/base/log.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::agent {

namespace {

/// The host keeps the name of its first certificate.
AgentState first_state(model::HostFacts facts, Memory memory, std::string version) {
    AgentState state;
    if (!memory.lost.empty()) log::warning(memory.lost);
    if (!memory.host_name.empty() && memory.host_name != facts.name) {
        state.present_name = std::exchange(facts.name, memory.host_name);
    }
    state.facts = std::move(facts);
    state.memory = std::move(memory);
    state.version = std::move(version);
    return state;
}

}  // namespace

Result<std::unique_ptr<Agent>> Agent::create(Loop& loop, Options options, model::HostFacts facts,
                                             Ports ports) {
    CredentialStore store = TRY(CredentialStore::open(options.state));
    AgentState first = first_state(std::move(facts), load_memory(store), options.version);
    return std::unique_ptr<Agent>(
        new Agent(loop, std::move(options), std::move(store), std::move(first), std::move(ports)));
}

Agent::Agent(Loop& loop, Options options, CredentialStore store, AgentState first, Ports ports)
    : loop_(loop),
      options_(std::move(options)),
      store_(std::move(store)),
      state_(std::move(first), std::move(ports.clock), options_.on_change),
      context_{loop,
               ports.executor,
               store_,
               state_,
               std::move(ports.connect),
               std::move(ports.look_up),
               std::move(ports.random),
               options_.namespace_,
               options_.pods_timeout},
      facts_(context_, std::move(ports.read_facts), std::move(ports.read_name)),
      management_(
          context_, {options_.bootstrap_kubeconfig, options_.is_bootstrap_configured},
          {[this] { reconciler_.on_host(); }, [this] { reconciler_.on_management_lost(); }}),
      reconciler_(context_, management_),
      commands_(context_) {}

/// A pause ends by the clock, of which no event says that it was set.
void Agent::on_wakeup() {
    facts_.on_wakeup();
    reconciler_.evaluate_soon();
}

void Agent::on_local_api(const Result<>& listens) {
    loop_.post(
        [this, listens] { state_.change([&](AgentState& state) { state.local_api = listens; }); });
}

void Agent::submit(model::Command command, Commands::Done done) {
    loop_.post([this, command = std::move(command), done = std::move(done)]() mutable {
        // Answered after the decision that follows: the Snapshot shows it.
        loop_.post([answer = commands_.run(command), done = std::move(done)]() mutable {
            done(std::move(answer));
        });
    });
}

}  // namespace kubexm::agent
