#include "daemon/agent/node_monitor.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/agent/credentials.hpp"
#include "daemon/agent/joining.hpp"
#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"
#include "daemon/kube/node.hpp"

namespace kubexm::agent {

namespace {

Result<> expect(const char* what, const std::string& found, const std::string& expected,
                const std::string& node) {
    if (found == expected) return {};
    return fail(Code::conflict, fmt::format("Node {}: expected {} \"{}\", found \"{}\"", node, what,
                                            expected, printable(found)));
}

}  // namespace

Result<> verify(const model::NodeRecord& node, const model::HostFacts& facts) {
    TRY(expect("machine-id", node.machine_id, facts.machine_id, facts.name));
    TRY(expect("providerID", node.provider_id, provider_id_of(facts.name), facts.name));
    if (node.ready == model::ConditionStatus::yes) return {};
    return fail(Code::unavailable,
                fmt::format("Node {} is not Ready: {}", facts.name, printable(node.ready_message)));
}

NodeMonitor::NodeMonitor(AgentContext& context, std::string owner, Listener listener)
    : context_(context), owner_(std::move(owner)), listener_(std::move(listener)) {}

Result<> NodeMonitor::start() {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    auto credentials = TRY(load_credentials(context_.store, NodeCredential::file_of(owner_), now));
    if (!credentials) {
        return fail(Code::not_found, "no node certificate is stored for " + owner_);
    }
    context_.status.change([&](model::Snapshot& snapshot) {
        std::erase_if(snapshot.certificates, [](const auto& each) { return each.name == "node"; });
        snapshot.certificates.push_back(view_of("node", *credentials));
        if (snapshot.assignment) snapshot.assignment->server = credentials->server;
    });
    api_ = TRY(kube::Api::create(context_.loop, *std::move(credentials)));
    watch_ = std::make_unique<kube::Watch>(
        context_.loop, *api_, kube::kNodesPath, context_.facts.name,
        kube::Watch::Listener{[this](const nlohmann::json& object) { on_object(object); },
                              [this](const kube::Answer<void>& answer) {
                                  if (!answer) listener_.on_unreachable(answer.error().error);
                              }});
    watch_->start();
    return {};
}

void NodeMonitor::on_object(const nlohmann::json& object) {
    if (object.is_null()) {
        return listener_.on_node(
            fail(Code::not_found,
                 fmt::format("{}: no Node {} yet", api_->server(), context_.facts.name)));
    }
    const model::NodeRecord node = kube::node_from_json(object);
    auto valid = verify(node, context_.facts);
    listener_.on_node(valid ? Result<model::NodeRecord>(node) : std::unexpected(valid.error()));
}

}  // namespace kubexm::agent
