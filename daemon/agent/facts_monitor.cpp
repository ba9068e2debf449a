#include "daemon/agent/facts_monitor.hpp"

#include "daemon/base/log.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

// Changes come in groups: a link, its addresses, its routes.
constexpr auto kDebounce = 1500ms;
constexpr auto kFactsEvery = 1h;

}  // namespace

FactsMonitor::FactsMonitor(AgentContext& context, Read read)
    : context_(context), read_(std::move(read)), last_(context.state.now()) {}

void FactsMonitor::on_links() {
    if (soon_) return;
    auto timer = context_.loop.after(kDebounce, [this] { read(); });
    if (timer) soon_ = *std::move(timer);
}

void FactsMonitor::on_wakeup() {
    if (context_.state.now() - last_ >= kFactsEvery) read();
}

void FactsMonitor::read() {
    soon_.reset();
    last_ = context_.state.now();
    const model::HostFacts& known = context_.facts();
    auto found = read_(known.name);
    if (!found) return log::warning("cannot read the facts of this host: " + found.error().what);
    found->name = known.name;
    found->machine_id = known.machine_id;
    if (*found == known) return;
    log::info("addresses or capacity of this host have changed");
    context_.state.change([&](AgentState& state) { state.facts = *std::move(found); });
}

}  // namespace kubexm::agent
