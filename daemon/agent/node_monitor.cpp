#include "daemon/agent/node_monitor.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/agent/credentials.hpp"
#include "daemon/agent/joining.hpp"
#include "daemon/base/text.hpp"
#include "daemon/kube/node.hpp"

namespace kubexm::agent {

namespace {

Result<> expect(const char* what, const std::string& found, const std::string& expected,
                const std::string& node) {
    if (found == expected) return {};
    return fail(Code::conflict, fmt::format("Node {} has {} \"{}\"; expected \"{}\"", node, what,
                                            printable(found), expected));
}

}  // namespace

Result<> verify(const model::NodeRecord& node, const model::HostFacts& facts) {
    if (auto good = expect("machine-id", node.machine_id, facts.machine_id, facts.name); !good) {
        return good;
    }
    const std::string provider_id = provider_id_of(facts.name);
    if (auto good = expect("providerID", node.provider_id, provider_id, facts.name); !good) {
        return good;
    }
    if (node.ready == model::ConditionStatus::yes) return {};
    return fail(Code::unavailable,
                fmt::format("Node {} is not Ready: {}", facts.name, printable(node.ready_message)));
}

NodeMonitor::NodeMonitor(AgentContext& context, std::string owner, Listener listener)
    : context_(context), owner_(std::move(owner)), listener_(std::move(listener)) {}

Result<> NodeMonitor::start() {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    auto kept = load_credentials(context_.store, NodeCredential::file_of(owner_), now);
    if (!kept) return std::unexpected(kept.error());
    std::optional<kube::ClusterCredentials>& access = *kept;
    if (!access) {
        return fail(Code::not_found, "the node's certificate is not kept here");
    }
    context_.status.change([&](model::Snapshot& snapshot) {
        std::erase_if(snapshot.certificates, [](const auto& each) { return each.name == "node"; });
        snapshot.certificates.push_back(view_of("node", *access));
        if (snapshot.assignment) snapshot.assignment->server = access->server;
    });
    auto api = kube::Api::create(context_.loop, *std::move(access));
    if (!api) return std::unexpected(api.error());
    api_ = *std::move(api);
    watch_ = std::make_unique<kube::Watch>(
        context_.loop, *api_, kube::kNodesPath, context_.facts.name,
        kube::Watch::Listener{[this](const nlohmann::json& object) { on_object(object); },
                              [this](const kube::Answer<void>& answer) {
                                  if (!answer) listener_.on_silence(answer.error().error);
                              }});
    watch_->start();
    return {};
}

void NodeMonitor::on_object(const nlohmann::json& object) {
    if (object.is_null()) {
        return listener_.on_node(fail(
            Code::not_found,
            fmt::format("there is no Node {} at {} yet", context_.facts.name, api_->server())));
    }
    const model::NodeRecord node = kube::node_from_json(object);
    auto good = verify(node, context_.facts);
    listener_.on_node(good ? Result<model::NodeRecord>(node) : std::unexpected(good.error()));
}

}  // namespace kubexm::agent
