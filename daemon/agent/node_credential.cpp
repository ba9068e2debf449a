#include "daemon/agent/node_credential.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/agent/credentials.hpp"
#include "daemon/base/log.hpp"
#include "daemon/kube/node.hpp"

namespace kubexm::agent {

namespace {

const std::vector<std::string> kUsages{"digital signature", "client auth"};

constexpr int kUnauthorizedNode = 401;

/// A cluster that was made anew at the same address does not know what the old one signed.
bool is_same_place(const kube::ClusterCredentials& a, const kube::ClusterCredentials& b) {
    return a.server == b.server && a.server_name == b.server_name && a.ca == b.ca;
}

std::string pending_key_of(const std::string& owner) { return owner + ".key"; }

CertificateOrder::CertificateSpec wish_for(const std::string& owner, const std::string& node) {
    const pki::Subject subject{"system:node:" + node, "system:nodes"};
    return {
        .pending = pending_key_of(owner),
        .subject = subject,
        .signer = "kubernetes.io/kube-apiserver-client-kubelet",
        .usages = kUsages,
        .name = [subject](
                    const pki::Key& key) { return pki::node_request_name(key, subject, kUsages); },
        .hint = "Is the token of the bootstrap secret still good?"};
}

}  // namespace

NodeCredential::NodeCredential(AgentContext& context, std::string owner, Done done)
    : context_(context), owner_(std::move(owner)), done_(std::move(done)) {}

void NodeCredential::start(kube::ClusterCredentials bootstrap) {
    bootstrap_ = std::move(bootstrap);
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    auto kept = load_credentials(context_.store, file_of(owner_), now);
    if (!kept) {
        log::warning("the kept certificate of the node cannot be used: " + kept.error().what);
        return order();
    }
    std::optional<kube::ClusterCredentials>& access = *kept;
    if (!access || !is_same_place(*access, bootstrap_)) return order();
    is_kept_ = true;
    prove(*std::move(access));
}

void NodeCredential::order() {
    is_kept_ = false;
    auto api = kube::Api::create(context_.loop, copy_of(bootstrap_));
    if (!api) return finish(std::unexpected(api.error()));
    api_ = *std::move(api);
    order_ = std::make_unique<CertificateOrder>(
        context_, *api_, wish_for(owner_, context_.facts.name),
        [this](Result<Credential> credential) { on_certificate(std::move(credential)); });
    order_->start();
}

void NodeCredential::on_certificate(Result<Credential> credential) {
    order_.reset();
    if (!credential) return finish(std::unexpected(credential.error()));
    auto access =
        store_credentials(context_.store, file_of(owner_), bootstrap_, *std::move(credential));
    if (!access) return finish(std::unexpected(access.error()));
    std::ignore = context_.store.remove(pending_key_of(owner_));
    prove(*std::move(access));
}

/// On a connection of its own: one that was made with another identity would prove nothing.
void NodeCredential::prove(kube::ClusterCredentials access) {
    access_ = copy_of(access);
    auto api = kube::Api::create(context_.loop, std::move(access));
    if (!api) return finish(std::unexpected(api.error()));
    call_.reset();
    api_ = *std::move(api);
    call_ = api_->get(kube::node_path(context_.facts.name),
                      [this](const kube::Answer<nlohmann::json>& node) { on_proof(node); });
}

void NodeCredential::on_proof(const kube::Answer<nlohmann::json>& node) {
    if (!node && node.error().status == kUnauthorizedNode && is_kept_) {
        log::warning("the kept certificate of the node is refused: " + node.error().error.what);
        return order();
    }
    if (!node && node.error().error.code != Code::not_found) {
        return finish(during("trying the node's new certificate", node.error().error));
    }
    const std::string& here = context_.facts.machine_id;
    if (node) {
        const model::NodeRecord found = kube::node_from_json(*node);
        if (!found.machine_id.empty() && found.machine_id != here) {
            return finish(
                fail(Code::conflict,
                     fmt::format(
                         "there is a Node {} of another machine: its machine-id is {}, ours is {}. "
                         "If that machine is gone: kubectl delete node {}",
                         context_.facts.name, found.machine_id, here, context_.facts.name)));
        }
    }
    if (access_) finish(*std::move(access_));
}

void NodeCredential::finish(Result<kube::ClusterCredentials> outcome) {
    context_.loop.post(lifetime_.guard(
        [this, outcome = std::move(outcome)]() mutable { done_(std::move(outcome)); }));
}

}  // namespace kubexm::agent
