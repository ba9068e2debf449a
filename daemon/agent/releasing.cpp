#include "daemon/agent/releasing.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/credentials.hpp"
#include "daemon/agent/node_credential.hpp"
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

Releasing::Releasing(AgentContext& context, std::string owner, Done done)
    : context_(context), owner_(std::move(owner)), done_(std::move(done)) {}

void Releasing::start() {
    run_ = std::make_unique<PlanRun>(context_,
                                     [this](const Result<>& outcome) { on_undone(outcome); });
    run_->undo(owner_);
}

void Releasing::on_undone(const Result<>& outcome) {
    crash_point("release.undone");
    if (!outcome) return finish(std::unexpected(outcome.error()));
    find_node();
}

/// After the undo: a running kubelet would create the Node again.
void Releasing::find_node() {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const std::string& name = context_.facts.name;
    auto loaded = load_credentials(context_.store, NodeCredential::file_of(owner_), now);
    if (!loaded) return finish(node_remains(name, loaded.error().what));
    std::optional<kube::ClusterCredentials>& credentials = *loaded;
    if (!credentials) return finish("");  // without a certificate there never was a Node
    auto api = kube::Api::create(context_.loop, *std::move(credentials));
    if (!api) return finish(node_remains(name, api.error().what));
    api_ = *std::move(api);
    call_ = api_->get(kube::node_path(name), [this](const kube::Answer<nlohmann::json>& answer) {
        if (answer) return delete_node(*answer);
        const Error& error = answer.error().error;
        finish(error.code == Code::not_found ? "" : node_remains(context_.facts.name, error.what));
    });
}

void Releasing::delete_node(const nlohmann::json& object) {
    const model::NodeRecord node = kube::node_from_json(object);
    if (node.machine_id != context_.facts.machine_id) return finish("");  // of another machine
    call_ = api_->remove(kube::node_path(context_.facts.name), kube::only_this_node(node),
                         [this, object](const kube::Answer<nlohmann::json>& answer) {
                             if (answer || answer.error().error.code == Code::not_found) {
                                 return finish("");
                             }
                             const Error& error = answer.error().error;
                             mark_not_ready(object, error.code == Code::denied
                                                        ? "this host may not delete it"
                                                        : error.what);
                         });
}

/// Best effort: a person has to delete the Node in any case.
void Releasing::mark_not_ready(const nlohmann::json& object, const std::string& why) {
    call_ =
        api_->merge_patch(kube::node_path(context_.facts.name) + "/status",
                          kube::left_node_patch(object, rfc3339(std::chrono::system_clock::now())),
                          [this, why](const kube::Answer<nlohmann::json>&) {
                              finish(node_remains(context_.facts.name, why));
                          });
}

void Releasing::finish(Result<std::string> outcome) {
    lifetime_.finish(context_.loop, done_, std::move(outcome));
}

}  // namespace kubexm::agent
