#include "daemon/agent/agent.hpp"

#include "daemon/agent/facts.hpp"
#include "daemon/base/try.hpp"

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
    const model::HostFacts facts = TRY(read_facts(options.host_name));
    CredentialStore store = TRY(CredentialStore::open(options.state));
    return std::unique_ptr<Agent>(new Agent(loop, std::move(options), std::move(store), facts));
}

Agent::Agent(Loop& loop, Options options, CredentialStore store, const model::HostFacts& facts)
    : loop_(loop),
      options_(std::move(options)),
      store_(std::move(store)),
      status_(first_snapshot(facts, options_.version), options_.on_change),
      executor_(loop, options_.executor_socket, options_.program,
                [this](const Result<>& answer) {
                    reconciler_.on_executor(answer);
                    options_.on_ready();
                }),
      reports_(loop, options_.executor_socket, options_.program, [](const Result<>&) {}),
      context_{loop_, executor_, reports_, store_, status_, facts, options_.namespace_},
      management_(context_, options_.bootstrap_kubeconfig,
                  {[this](const model::HostRecord& host) { reconciler_.on_host(host); },
                   [this] { reconciler_.on_management_lost(); }}),
      reconciler_(context_, management_) {}

void Agent::start() {
    executor_.start();
    reports_.start();
    management_.start();
}

std::shared_ptr<const model::Snapshot> Agent::snapshot() {
    if (!refresh_pending_.exchange(true)) {
        loop_.post([this] {
            refresh_pending_ = false;
            reconciler_.refresh();
        });
    }
    return status_.read();
}

}  // namespace kubexm::agent
