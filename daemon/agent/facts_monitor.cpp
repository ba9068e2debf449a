#include "daemon/agent/facts_monitor.hpp"

#include <fmt/format.h>

#include "daemon/base/log.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

// Changes come in groups: a link, its addresses, its routes.
constexpr auto kDebounce = 1500ms;
constexpr auto kFactsEvery = 1h;

/// Of a lost memory the certificate is left.
bool has_name_for_good(const AgentState& state) {
    return !state.memory.host_name.empty() || !state.management.server.empty();
}

}  // namespace

FactsMonitor::FactsMonitor(AgentContext& context, Read read, ReadName read_name)
    : context_(context),
      read_(std::move(read)),
      read_name_(std::move(read_name)),
      last_(context.state.now()) {}

void FactsMonitor::on_links() {
    if (soon_) return;
    auto timer = context_.loop.after(kDebounce, [this] { read(); });
    if (timer) soon_ = *std::move(timer);
}

void FactsMonitor::on_wakeup() {
    update_name();
    if (context_.state.now() - last_ >= kFactsEvery) read();
}

void FactsMonitor::read() {
    soon_.reset();
    update_name();  // DHCP may bring it with an address
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

void FactsMonitor::update_name() {
    const auto found = read_name_();
    if (!found) return log::debug(found.error().what);
    const AgentState& state = context_.state.read();
    const std::string name = has_name_for_good(state) ? state.facts.name : *found;
    const std::string other = *found == name ? "" : *found;
    if (name == state.facts.name && other == state.present_name) return;
    log::notice(fmt::format("the name of this host is now {}", *found));
    context_.state.change([&](AgentState& changed) {
        changed.facts.name = name;
        changed.present_name = other;
    });
}

}  // namespace kubexm::agent
