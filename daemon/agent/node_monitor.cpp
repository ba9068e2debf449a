#include "daemon/agent/node_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/agent/credentials.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/base/crash_point.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"
#include "daemon/kube/node.hpp"
#include "daemon/model/node_labels.hpp"

namespace kubexm::agent {

namespace {

using model::Pair;

Result<> expect(const char* what, const std::string& found, const std::string& expected,
                const std::string& node) {
    if (found == expected) return {};
    return fail(Code::conflict, fmt::format("Node {}: expected {} \"{}\", found \"{}\"", node, what,
                                            expected, printable(found)));
}

bool has_key(const std::vector<Pair>& pairs, const std::string& key) {
    return std::ranges::find(pairs, key, &Pair::key) != pairs.end();
}

/// Not while a person has paused this host, or while its orders are held.
bool follows_orders(const AgentState& state) {
    if (!state.decision) return false;
    const Action action = state.decision->action;
    return action == Action::join || action == Action::maintain;
}

/// Also those of `more` with other keys.
std::vector<Pair> united(std::vector<Pair> labels, const std::vector<Pair>& more) {
    for (const Pair& label : more) {
        if (!has_key(labels, label.key)) labels.push_back(label);
    }
    return labels;
}

}  // namespace

Result<> verify(const model::NodeRecord& node, const model::HostFacts& facts) {
    if (node.machine_id != facts.machine_id) {  // not shown: it identifies the host to others
        return fail(Code::conflict,
                    fmt::format("Node {}: expected this host's machine-id, found {}", facts.name,
                                node.machine_id.empty() ? "none" : "another"));
    }
    TRY(expect("providerID", node.provider_id, provider_id_of(facts.name), facts.name));
    if (node.ready == model::ConditionStatus::yes) return {};
    return fail(Code::unavailable,
                fmt::format("Node {} is not Ready: {}", facts.name, printable(node.ready_message)));
}

nlohmann::json label_patch(const model::NodeRecord& node, const std::vector<Pair>& wanted,
                           const std::vector<Pair>& applied) {
    nlohmann::json labels;
    for (const Pair& label : wanted) {
        if (std::ranges::find(node.labels, label) == node.labels.end()) {
            labels[label.key] = label.value;
        }
    }
    for (const Pair& label : applied) {
        if (!has_key(wanted, label.key) && has_key(node.labels, label.key)) {
            labels[label.key] = nullptr;
        }
    }
    if (labels.is_null()) return {};
    return {{"metadata", {{"labels", std::move(labels)}}}};
}

NodeMonitor::NodeMonitor(AgentContext& context, const JoinStrategy& strategy, std::string owner,
                         std::function<void()> on_plan)
    : context_(context),
      strategy_(strategy),
      owner_(std::move(owner)),
      on_plan_(std::move(on_plan)) {}

NodeMonitor::~NodeMonitor() {
    context_.state.change([](AgentState& state) { state.node.reset(); });
}

Result<> NodeMonitor::start() {
    auto credentials = TRY(strategy_.node_credentials(context_, owner_));
    if (!credentials) {
        return fail(Code::not_found, "no node certificate is stored for " + owner_);
    }
    NodeState node;
    node.owner = owner_;
    node.server = credentials->server;
    node.certificate = view_of("node", *credentials, context_.facts());
    api_ = TRY(context_.connect(copy_of(*credentials)));
    certificate_ = std::make_unique<NodeCertificate>(context_, owner_, *api_,
                                                     *std::move(credentials), on_plan_);
    certificate_->start();
    cordon_ = std::make_unique<OwnCordon>(context_, *api_, owner_);
    context_.state.change([&](AgentState& state) { state.node = std::move(node); });
    watch_ = std::make_unique<kube::Watch>(
        context_.loop, *api_, context_.random, kube::kNodesPath, context_.facts().name,
        kube::Watch::Listener{[this](const nlohmann::json& object) { on_object(object); },
                              [this](const kube::Answer<void>& answer) { on_change(answer); }});
    watch_->start();
    return {};
}

void NodeMonitor::update() {
    update_labels();
    update_cordon();
    certificate_->update();
}

void NodeMonitor::change(const std::function<void(NodeState&)>& change) {
    context_.state.change([&](AgentState& state) {
        if (state.node) change(*state.node);
    });
}

/// The watch goes on at the last version: an unchanged Node is not sent again, so the last one
/// counts.
void NodeMonitor::on_change(const kube::Answer<void>& answer) {
    change([&](NodeState& node) {
        node.problem.reset();
        if (!answer) node.problem = answer.error().error;
        node.untrusted = !answer && answer.error().untrusted;
    });
    if (answer) return context_.state.change([](AgentState& s) { s.credentials_problem.reset(); });
    if (answer.error().status != kube::HttpStatus::unauthorized) return;
    context_.state.change(
        [&](AgentState& state) { state.credentials_problem = answer.error().error; });
}

void NodeMonitor::on_object(const nlohmann::json& object) {
    const bool was_ready = became_ready();
    change([&](NodeState& node) {
        node.problem.reset();
        node.observed = true;
        node.record.reset();
        node.invalid = Error{Code::not_found,
                             fmt::format("{}: no Node {} yet", node.server, context_.facts().name)};
        if (object.is_null()) return;
        node.record = kube::node_from_json(object);
        auto valid = verify(*node.record, context_.facts());
        node.invalid.reset();
        if (!valid) node.invalid = valid.error();
        node.became_ready = node.became_ready || valid;
    });
    if (!was_ready && became_ready()) remember_ready();
    update_labels();
    update_cordon();
}

void NodeMonitor::update_cordon() { cordon_->update(); }

bool NodeMonitor::became_ready() const {
    const auto& node = context_.state.read().node;
    return node && node->became_ready;
}

void NodeMonitor::remember_ready() {
    crash_point("node.ready");
    const auto& joined = context_.state.read().memory.joined;
    if (!joined || joined->owner != owner_ || joined->became_ready) return;
    std::ignore = remember(context_, [](Memory& memory) {
        if (memory.joined) memory.joined->became_ready = true;
    });
}

void NodeMonitor::update_labels() {
    const AgentState& state = context_.state.read();
    if (patch_ || retry_labels_ || !state.node || !state.node->record) return;
    if (!state.host || !follows_orders(state)) return;
    const auto& joined = state.memory.joined;
    if (!joined || joined->owner != owner_ || state.host->machine == std::nullopt ||
        owner_of(*state.host->machine) != owner_) {
        return;
    }
    const auto wanted = model::labels_for_kubelet(state.host->labels);
    if (!fight_.is_about(wanted)) end_fight();
    if (next_in_fight_) return;
    const nlohmann::json patch = label_patch(*state.node->record, wanted, joined->labels);
    const bool is_refused = patch.dump() == refused_labels_;
    if (!is_refused) allow_labels();
    if (patch.is_null() || is_refused) return;
    // Before the patch, also for a process that is killed after it: a label that is remembered can
    // be removed.
    if (!remember_labels(united(joined->labels, wanted))) return;
    patch_ = api_->merge_patch(kube::node_path(context_.facts().name), patch,
                               [this, wanted, patch](const kube::Answer<nlohmann::json>& answer) {
                                   patch_.reset();
                                   if (answer) {
                                       backoff_.reset();
                                       std::ignore = remember_labels(wanted);
                                       return on_labels_set(wanted, patch);
                                   }
                                   log::warning("labels of the Node: " + answer.error().error.what);
                                   on_labels_failed(answer.error(), patch.dump());
                               });
}

/// Where they stay until the end of the wait, the fight is over.
void NodeMonitor::on_labels_set(const std::vector<Pair>& wanted, const nlohmann::json& patch) {
    const auto wait = fight_.note_patch(wanted, context_.state.now(), context_.random());
    if (!wait) return;
    std::string keys;
    for (const auto& label : patch.at("metadata").at("labels").items()) {
        keys += (keys.empty() ? "" : ", ") + label.key();
    }
    change([&](NodeState& node) { node.labels_contested = keys; });
    auto timer = context_.loop.after(*wait, [this] {
        next_in_fight_.reset();
        update_labels();
        if (!patch_) end_fight();
    });
    if (timer) next_in_fight_ = *std::move(timer);
}

void NodeMonitor::end_fight() {
    fight_.end();
    next_in_fight_.reset();
    const auto& node = context_.state.read().node;
    if (!node || node->labels_contested.empty()) return;
    change([](NodeState& changed) { changed.labels_contested.clear(); });
}

void NodeMonitor::on_labels_failed(const kube::Failure& failure, const std::string& patch) {
    const Code code = failure.error.code;
    if (code == Code::denied || code == Code::invalid) {
        refused_labels_ = patch;
        return change([&](NodeState& node) { node.labels_refused = failure.error; });
    }
    auto timer = context_.loop.after(backoff_.next(failure, context_.random()), [this] {
        retry_labels_.reset();
        update_labels();
    });
    if (timer) retry_labels_ = *std::move(timer);
}

/// The wanted labels are others than those that were refused.
void NodeMonitor::allow_labels() {
    refused_labels_.clear();
    const auto& node = context_.state.read().node;
    if (node && node->labels_refused) {
        change([](NodeState& changed) { changed.labels_refused.reset(); });
    }
}

Result<> NodeMonitor::remember_labels(const std::vector<Pair>& labels) {
    return remember(context_, [&](Memory& memory) {
        if (memory.joined && memory.joined->owner == owner_) memory.joined->labels = labels;
    });
}

}  // namespace kubexm::agent
