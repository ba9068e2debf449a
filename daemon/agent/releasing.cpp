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

/// Who has to, where this host may not.
std::string left_behind(const std::string& node, const std::string& why) {
    return fmt::format(
        "the host was released; its Node {} stayed ({}): an administrator has to run "
        "kubectl delete node {}, or allow nodes to delete themselves "
        "(/usr/share/kubexm/manifests/node-self-delete.yaml)",
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
    look_for_node();
}

/// Only now: a kubelet that still ran would make the Node again.
void Releasing::look_for_node() {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const std::string& name = context_.facts.name;
    auto kept = load_credentials(context_.store, NodeCredential::file_of(owner_), now);
    if (!kept) return finish(left_behind(name, kept.error().what));
    std::optional<kube::ClusterCredentials>& access = *kept;
    if (!access) return finish("");  // it never had one, so it never was a node
    auto api = kube::Api::create(context_.loop, *std::move(access));
    if (!api) return finish(left_behind(name, api.error().what));
    api_ = *std::move(api);
    call_ = api_->get(kube::node_path(name), [this](const kube::Answer<nlohmann::json>& answer) {
        if (answer) return delete_node(*answer);
        const Error& error = answer.error().error;
        finish(error.code == Code::not_found ? "" : left_behind(context_.facts.name, error.what));
    });
}

void Releasing::delete_node(const nlohmann::json& object) {
    const model::NodeRecord node = kube::node_from_json(object);
    if (node.machine_id != context_.facts.machine_id)
        return finish("");  // another machine's by now
    call_ = api_->remove(kube::node_path(context_.facts.name), kube::only_this_node(node),
                         [this, object](const kube::Answer<nlohmann::json>& answer) {
                             if (answer || answer.error().error.code == Code::not_found) {
                                 return finish("");
                             }
                             const Error& error = answer.error().error;
                             leave_node(object, error.code == Code::denied
                                                    ? "this host may not delete it"
                                                    : error.what);
                         });
}

/// Whether that works or not, somebody has to delete it.
void Releasing::leave_node(const nlohmann::json& object, const std::string& why) {
    call_ =
        api_->merge_patch(kube::node_path(context_.facts.name) + "/status",
                          kube::left_node_patch(object, rfc3339(std::chrono::system_clock::now())),
                          [this, why](const kube::Answer<nlohmann::json>&) {
                              finish(left_behind(context_.facts.name, why));
                          });
}

void Releasing::finish(Result<std::string> outcome) {
    context_.loop.post(lifetime_.guard([this, outcome = std::move(outcome)] { done_(outcome); }));
}

}  // namespace kubexm::agent
