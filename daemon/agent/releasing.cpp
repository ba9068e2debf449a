#include "daemon/agent/releasing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/agent/conditions.hpp"
#include "daemon/base/crash_point.hpp"
#include "daemon/kube/node.hpp"

namespace kubexm::agent {

namespace {

std::string node_remains(const std::string& node, const std::string& why) {
    return fmt::format(
        "the host was released, but its Node {} was not deleted ({}); run kubectl delete node {}, "
        "or allow nodes to delete themselves (/usr/share/kubexm/manifests/node-self-delete.yaml)",
        node, why, node);
}

}  // namespace

std::string release_message(const std::vector<model::Remaining>& stays,
                            const std::string& node_message, const std::string& pods_message) {
    std::string message = node_message;
    for (const model::Remaining& each : stays) {
        message +=
            fmt::format("{}{} stays: {}", message.empty() ? "" : "; ", each.object, each.why);
    }
    if (message.empty()) message = "the host was released and is as it was";
    return pods_message.empty() ? message : fmt::format("{}; {}", message, pods_message);
}

Releasing::Releasing(AgentContext& context, const JoinStrategy& strategy, std::string owner,
                     Done done)
    : Activity(context, std::move(done)), strategy_(strategy), owner_(std::move(owner)) {}

void Releasing::start() {
    draining_ = std::make_unique<Draining>(context(), strategy_, owner_,
                                           [this](const Result<std::string>& message) {
                                               pods_message_ = message.value_or("");
                                               undo();
                                           });
    draining_->start();
}

void Releasing::undo() {
    run_ = std::make_unique<PlanRun>(
        context(), PlanRun::Undo{owner_},
        [this](const Result<wire::PlanSummary>& outcome) { on_undone(outcome); });
    run_->start();
}

/// Objects that would harm the next join keep the ByoHost from being freed.
void Releasing::on_undone(const Result<wire::PlanSummary>& outcome) {
    crash_point("release.undone");
    if (!outcome) return finish(std::unexpected(outcome.error()));
    stays_ = outcome->stays;
    const auto blocking = std::ranges::find_if(stays_, &model::Remaining::blocks_join);
    if (blocking != stays_.end()) {
        return finish(
            fail(Code::unavailable, fmt::format("{} stays: {}", blocking->object, blocking->why)));
    }
    find_node();
}

void Releasing::end(const std::string& node_message) {
    finish(release_message(stays_, node_message, pods_message_));
}

/// After the undo: a running kubelet would create the Node again.
void Releasing::find_node() {
    const std::string& name = context().facts().name;
    auto loaded = strategy_.node_credentials(context(), owner_);
    if (!loaded) return end(node_remains(name, loaded.error().what));
    std::optional<kube::ClusterCredentials>& credentials = *loaded;
    if (!credentials) return end("");  // without a certificate there never was a Node
    auto api = context().connect(*std::move(credentials));
    if (!api) return end(node_remains(name, api.error().what));
    api_ = *std::move(api);
    call_ = api_->get(kube::node_path(name), [this](const kube::Answer<nlohmann::json>& answer) {
        if (answer) return delete_node(*answer);
        const Error& error = answer.error().error;
        end(error.code == Code::not_found ? "" : node_remains(context().facts().name, error.what));
    });
}

void Releasing::delete_node(const nlohmann::json& object) {
    const model::NodeRecord node = kube::node_from_json(object);
    if (node.machine_id != context().facts().machine_id) return end("");  // of another machine
    call_ = api_->remove(kube::node_path(context().facts().name), kube::only_this_node(node),
                         [this, object](const kube::Answer<nlohmann::json>& answer) {
                             if (answer || answer.error().error.code == Code::not_found) {
                                 return end("");
                             }
                             const Error& error = answer.error().error;
                             mark_not_ready(object, error.code == Code::denied
                                                        ? "this host may not delete it"
                                                        : error.what);
                         });
}

/// Best effort: a person has to delete the Node in any case.
void Releasing::mark_not_ready(const nlohmann::json& object, const std::string& why) {
    call_ = api_->merge_patch(kube::node_path(context().facts().name) + "/status",
                              kube::left_node_patch(object, rfc3339(context().state.now())),
                              [this, why](const kube::Answer<nlohmann::json>&) {
                                  end(node_remains(context().facts().name, why));
                              });
}

}  // namespace kubexm::agent
