#include <algorithm>

#include "daemon/base/refusal.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/engine/authorities.hpp"
#include "daemon/executor/engine/engine.hpp"
#include "daemon/executor/engine/ledger_steps.hpp"
#include "daemon/executor/engine/node_steps.hpp"
#include "daemon/executor/preflight/findings.hpp"
#include "daemon/model/owner.hpp"

// The preflight of a join: state that a host must have before it becomes a node.

namespace kubexm::executor {

namespace {

using namespace std::chrono_literals;

constexpr auto kProbeDeadline = 10s;

const model::RenderedFile* unit_file_of_kubelet(const model::Step& step) {
    const auto* file = std::get_if<model::RenderedFile>(&step);
    return file != nullptr && makes_kubelet(step) ? file : nullptr;
}

/// Also one whose join or release is not finished. Objects that a release left are no node.
Result<bool> has_node(Journal& journal) {
    const auto entries = TRY(journal.ledger(""));
    return std::ranges::any_of(entries, [](const LedgerEntry& entry) {
        const auto step = applied_step(entry);
        const bool is_machines = std::ranges::any_of(entry.owners, [](const LedgerOwner& owner) {
            return model::is_machine_owner(owner.owner);
        });
        return is_machines && step && *step && unit_file_of_kubelet(**step) != nullptr;
    });
}

/// The checks that a plan needs.
enum class Asked { nothing, foreign_nodes, all };

/// For kubexmd its steps decide, not its word. Parts of a join would take over a foreign node, too.
Asked asked_about(const model::Plan& plan, const Caller& caller) {
    if (plan.purpose == PlanPurpose::join) return Asked::all;
    if (caller.uid == 0) return Asked::nothing;
    const bool is_join = std::ranges::any_of(
        plan.steps, [](const model::Step& step) { return unit_file_of_kubelet(step) != nullptr; });
    if (is_join) return Asked::all;
    return std::ranges::any_of(plan.steps, concerns_node) ? Asked::foreign_nodes : Asked::nothing;
}

}  // namespace

Result<std::vector<model::Finding>> Engine::preflight(const model::JoinNeeds& needs) {
    return store_.use([&](Records& records) { return findings(records.journal, needs); });
}

Result<std::vector<model::Finding>> Engine::findings(Journal& journal,
                                                     const model::JoinNeeds& needs) {
    auto facts = TRY(probe_.read(systemd_, std::chrono::steady_clock::now() + kProbeDeadline));
    facts.allowed_clusters = allow_.clusters;
    const bool is_own_node = TRY(has_node(journal));
    auto found = findings_of(facts, needs, is_own_node);
    std::erase_if(found, [&](const model::Finding& each) {
        return std::ranges::find(allow_.ignored_checks, name_of(each.id)) !=
               allow_.ignored_checks.end();
    });
    return found;
}

/// Changed orders of a node do not make it anew: a fault of the host does not stop them.
Result<> Engine::check_join(Journal& journal, const model::Plan& plan, const Caller& caller) {
    const Asked asked = asked_about(plan, caller);
    if (asked == Asked::nothing) return {};
    const bool is_own_node = TRY(has_node(journal));
    if (is_own_node) return {};
    auto found = TRY(findings(journal, join_needs_of(plan)));
    std::erase_if(found, [&](const model::Finding& each) {
        return asked == Asked::foreign_nodes && !is_about_foreign_nodes(each.id);
    });
    const auto good = model::without_errors(found);
    return good ? good : refusal("preflight", good.error().code, good.error().what);
}

}  // namespace kubexm::executor
