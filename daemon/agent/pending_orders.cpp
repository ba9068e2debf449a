#include "daemon/agent/pending_orders.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/agent/state.hpp"
#include "daemon/base/text.hpp"
#include "daemon/model/node_labels.hpp"
#include "daemon/model/step_names.hpp"

namespace kubexm::agent {

namespace {

template <typename T>
bool contains(const std::vector<T>& list, const T& item) {
    return std::ranges::find(list, item) != list.end();
}

/// kubectl knows a taint by its key and effect.
bool has_same(const std::vector<model::Taint>& taints, const model::Taint& taint) {
    return std::ranges::any_of(taints, [&](const model::Taint& each) {
        return each.key == taint.key && each.effect == taint.effect;
    });
}

bool has_same(const std::vector<model::Pair>& labels, const model::Pair& label) {
    return std::ranges::find(labels, label.key, &model::Pair::key) != labels.end();
}

std::string argument_of(const model::Taint& taint) {
    return fmt::format("{}={}:{}", taint.key, taint.value, name_of(taint.effect));
}

std::string argument_of(const model::Pair& label) { return label.key + "=" + label.value; }

std::string removal_of(const model::Taint& taint) { return argument_of(taint) + "-"; }

std::string removal_of(const model::Pair& label) { return label.key + "-"; }

/// The arguments with which kubectl makes the Node as it is wanted; empty: it is. Labels and taints
/// that neither present nor earlier orders have belong to others, and stay.
template <typename T>
std::string changes_for_kubectl(const std::vector<T>& wanted, const std::vector<T>& present,
                                const std::vector<T>& asked) {
    std::string changes;
    bool overwrites = false;
    for (const T& each : wanted) {
        if (contains(present, each)) continue;
        changes += " " + printable(argument_of(each));
        overwrites = overwrites || has_same(present, each);
    }
    for (const T& each : asked) {
        const bool goes = contains(present, each) && !has_same(wanted, each);
        if (goes) changes += " " + printable(removal_of(each));
    }
    return changes + (overwrites ? " --overwrite" : "");
}

std::string pending_version(const model::HostRecord& host, const JoinedMachine& joined) {
    const bool is_ours = host.machine && joined.owner == owner_of(*host.machine);
    if (!is_ours || host.version.empty() || host.version == joined.version) return "";
    return fmt::format(
        "version {} is wanted, the node was joined with {}; changing the version of a node is not "
        "possible yet",
        printable(host.version), joined.version);
}

/// A node may set its taints when it registers only.
std::string pending_taints(const std::string& name, const model::HostRecord& host,
                           const model::NodeRecord& node, const JoinedMachine& joined) {
    const std::string changes = changes_for_kubectl(host.taints, node.taints, joined.taints);
    if (changes.empty()) return "";
    return fmt::format("a node may not change its own taints; run: kubectl taint nodes {}{}", name,
                       changes);
}

/// Labels in the domains of Kubernetes that no node may give itself.
std::string pending_labels(const std::string& name, const model::HostRecord& host,
                           const model::NodeRecord& node, const JoinedMachine& joined) {
    const std::string changes = changes_for_kubectl(model::labels_of_others(host.labels),
                                                    node.labels, joined.labels_of_others);
    if (changes.empty()) return "";
    return fmt::format("a node may not give itself these labels; run: kubectl label nodes {}{}",
                       name, changes);
}

std::string refused_labels(const NodeState& node) {
    if (!node.labels_refused) return "";
    return "labels of the Node: " + node.labels_refused->what +
           "; correct spec.labels of the ByoHost";
}

std::string contested_labels(const NodeState& node) {
    if (node.labels_contested.empty()) return "";
    return "labels of the Node: another writer changes " + printable(node.labels_contested) +
           " back each time; kubexmd sets them again after longer and longer waits. Stop the other "
           "writer, or correct spec.labels of the ByoHost";
}

}  // namespace

std::string pending_orders(const AgentState& state) {
    const auto& joined = state.memory.joined;
    if (!state.host || !joined) return "";
    const std::string& name = state.facts.name;
    std::vector<std::string> pending{pending_version(*state.host, *joined)};
    if (state.node && state.node->record) {
        const model::NodeRecord& node = *state.node->record;
        pending.push_back(pending_taints(name, *state.host, node, *joined));
        pending.push_back(pending_labels(name, *state.host, node, *joined));
        pending.push_back(refused_labels(*state.node));
        pending.push_back(contested_labels(*state.node));
    }
    std::erase(pending, "");
    return fmt::format("{}", fmt::join(pending, "; "));
}

}  // namespace kubexm::agent
