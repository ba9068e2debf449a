#include "daemon/agent/releasing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/agent/conditions.hpp"
#include "daemon/base/crash_point.hpp"
#include "daemon/base/try.hpp"
#include "daemon/kube/node.hpp"

namespace kubexm::agent {

namespace {

std::string node_remains(const std::string& node, const std::string& why) {
    return fmt::format(
        "the host was released, but its Node {} was not deleted ({}); run kubectl delete node {}, "
        "or allow nodes to delete themselves (/usr/share/kubexm/manifests/node-self-delete.yaml)",
        node, why, node);
}

/// The objects that the newest undo and earlier machines have left, each once.
std::vector<model::Remaining> stays_of(const ExecutorState& executor, const std::string& owner) {
    const wire::Outcome* last = executor.newest(owner);
    const bool is_undo = last != nullptr && last->purpose == model::PlanPurpose::release;
    std::vector<model::Remaining> stays = is_undo ? last->stays : std::vector<model::Remaining>();
    for (model::Remaining& each : executor.leftovers(owner)) {
        const auto same = std::ranges::find(stays, each.object, &model::Remaining::object);
        if (same == stays.end()) stays.push_back(std::move(each));
    }
    return stays;
}

/// The objects that the release has left, as text; pods that have ended meanwhile are none.
std::string remains_of(const Freed& freed, const ExecutorState& executor) {
    std::string text = freed.node;
    for (const model::Remaining& each : stays_of(executor, freed.owner)) {
        text += fmt::format("{}{} stays: {}", text.empty() ? "" : "; ", each.object, each.why);
    }
    return text;
}

std::string with_pods(const std::string& text, const Freed& freed) {
    if (freed.pods.empty()) return text;
    return text.empty() ? freed.pods : fmt::format("{}; {}", text, freed.pods);
}

}  // namespace

std::string left_of(const Freed& freed, const ExecutorState& executor) {
    return with_pods(remains_of(freed, executor), freed);
}

std::string release_message(const Freed& freed, const ExecutorState& executor) {
    const std::string remains = remains_of(freed, executor);
    return with_pods(
        remains.empty() ? "the host was released; its previous state is restored" : remains, freed);
}

Releasing::Releasing(AgentContext& context, const JoinStrategy& strategy, std::string owner,
                     std::optional<model::OnBehalfOf> on_behalf_of, Done done)
    : Activity(context, std::move(done)),
      strategy_(strategy),
      owner_(std::move(owner)),
      on_behalf_of_(on_behalf_of) {}

void Releasing::start() {
    draining_ = std::make_unique<Draining>(context(), strategy_, owner_,
                                           [this](const Result<std::string>& message) {
                                               pods_message_ = message.value_or("");
                                               api_ = draining_->take_connection();
                                               undo();
                                           });
    draining_->start();
}

void Releasing::undo() {
    look_at_node();
    run_ = std::make_unique<PlanRun>(
        context(), PlanRun::Undo{owner_, on_behalf_of_},
        [this](const Result<wire::PlanSummary>& outcome) { on_undone(outcome); });
    run_->start();
}

/// Objects that would harm the next join keep the ByoHost from being freed.
void Releasing::on_undone(const Result<wire::PlanSummary>& outcome) {
    crash_point("release.undone");
    if (!outcome) return finish(std::unexpected(outcome.error()));
    const auto blocking = std::ranges::find_if(outcome->stays, &model::Remaining::blocks_join);
    if (blocking != outcome->stays.end()) {
        return finish(
            fail(Code::unavailable, fmt::format("{} stays: {}", blocking->object, blocking->why)));
    }
    delete_known_node();
}

void Releasing::end(const std::string& node_message) {
    finish(Freed{owner_, node_message, pods_message_});
}

/// While the executor undoes the node: of a Node that is there, the uid does not change any more.
void Releasing::look_at_node() {
    if (api_ == nullptr) return;
    call_ = api_->get(kube::node_path(context().facts().name),
                      [this](const kube::Answer<nlohmann::json>& answer) {
                          if (answer) known_ = kube::node_from_json(*answer);
                      });
}

/// After the undo: a running kubelet would create the Node again. A Node that is another one by
/// now, or that may not be deleted, is looked at again.
void Releasing::delete_known_node() {
    const bool is_ours = known_ && known_->machine_id == context().facts().machine_id;
    if (!is_ours) return find_node();
    call_ = api_->remove(kube::node_path(context().facts().name), kube::only_this_node(*known_),
                         [this](const kube::Answer<nlohmann::json>& answer) {
                             const bool is_absent =
                                 answer || answer.error().error.code == Code::not_found;
                             if (is_absent) return end("");
                             find_node();
                         });
}

/// False: without a certificate there never was a Node.
Result<bool> Releasing::connect() {
    if (api_ != nullptr) return true;
    std::optional<kube::ClusterCredentials> credentials =
        TRY(strategy_.node_credentials(context(), owner_));
    if (!credentials) return false;
    api_ = TRY(context().connect(*std::move(credentials)));
    return true;
}

void Releasing::find_node() {
    const std::string& name = context().facts().name;
    const auto connected = connect();
    if (!connected) return end(node_remains(name, connected.error().what));
    if (!*connected) return end("");
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
    const auto now = context().state.now() + api_->clock_offset().value_or(std::chrono::seconds(0));
    call_ = api_->merge_patch(kube::node_path(context().facts().name) + "/status",
                              kube::left_node_patch(object, rfc3339(now)),
                              [this, why](const kube::Answer<nlohmann::json>&) {
                                  end(node_remains(context().facts().name, why));
                              });
}

}  // namespace kubexm::agent
