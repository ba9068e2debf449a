#include "daemon/agent/node_credential.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/agent/credentials.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/text.hpp"
#include "daemon/kube/node.hpp"

namespace kubexm::agent {

namespace {

const std::vector<std::string> kUsages{"digital signature", "client auth"};

std::string key_file_of(const std::string& owner) { return owner + ".key"; }

}  // namespace

CertificateOrder::Spec NodeCredential::spec_for(const std::string& owner, const std::string& node) {
    const pki::Subject subject{"system:node:" + node, "system:nodes"};
    return {
        .identity = "node",
        .key_file = key_file_of(owner),
        .subject = subject,
        .signer = "kubernetes.io/kube-apiserver-client-kubelet",
        .usages = kUsages,
        .name = [subject](
                    const pki::Key& key) { return pki::node_request_name(key, subject, kUsages); },
        .hint = "The token of the bootstrap secret may have expired"};
}

NodeCredential::NodeCredential(AgentContext& context, std::string owner,
                               kube::ClusterCredentials bootstrap, Done done)
    : Activity(context, std::move(done)),
      owner_(std::move(owner)),
      bootstrap_(std::move(bootstrap)) {}

void NodeCredential::start() {
    auto loaded = load_credentials(context().store, file_of(owner_));
    if (!loaded) {
        log::warning("stored node certificate is not usable: " + loaded.error().what);
        return order();
    }
    std::optional<kube::ClusterCredentials>& credentials = *loaded;
    if (!credentials || !is_same_cluster(*credentials, bootstrap_)) return order();
    is_stored_ = true;
    test(*std::move(credentials));
}

void NodeCredential::order() {
    is_stored_ = false;
    auto api = context().connect(copy_of(bootstrap_));
    if (!api) return finish(std::unexpected(api.error()));
    api_ = *std::move(api);
    auto spec = spec_for(owner_, context().facts().name);
    if (credentials_) spec.used_key = public_key_of(*credentials_);  // which was refused
    order_ = std::make_unique<CertificateOrder>(
        context(), *api_, std::move(spec),
        [this](Result<Credential> credential) { on_certificate(std::move(credential)); });
    order_->start();
}

void NodeCredential::on_certificate(Result<Credential> credential) {
    order_.reset();
    if (!credential) return finish(std::unexpected(credential.error()));
    auto credentials =
        store_credentials(context().store, file_of(owner_), bootstrap_, *std::move(credential));
    if (!credentials) return finish(std::unexpected(credentials.error()));
    std::ignore = context().store.remove(key_file_of(owner_));
    test(*std::move(credentials));
}

/// On a new connection: an open one keeps the identity it was made with.
void NodeCredential::test(kube::ClusterCredentials credentials) {
    credentials_ = copy_of(credentials);
    auto api = context().connect(std::move(credentials));
    if (!api) return finish(std::unexpected(api.error()));
    call_.reset();
    api_ = *std::move(api);
    call_ = api_->get(kube::node_path(context().facts().name),
                      [this](const kube::Answer<nlohmann::json>& node) { on_tested(node); });
}

void NodeCredential::on_tested(const kube::Answer<nlohmann::json>& node) {
    if (!node && node.error().status == kube::HttpStatus::unauthorized && is_stored_) {
        log::warning("stored node certificate was refused: " + node.error().error.what);
        return order();
    }
    if (!node && node.error().error.code != Code::not_found) {
        return finish(during("testing the node certificate", node.error().error));
    }
    const model::HostFacts& facts = context().facts();
    const std::string found = node ? kube::node_from_json(*node).machine_id : "";
    if (!found.empty() && found != facts.machine_id) {
        return finish(
            fail(Code::conflict, fmt::format("Node {} belongs to another machine: expected this "
                                             "host's machine-id, found another; "
                                             "if that machine is gone, run kubectl delete node {}",
                                             facts.name, facts.name)));
    }
    if (credentials_) finish(*std::move(credentials_));
}

}  // namespace kubexm::agent
