#include "daemon/agent/certificate_renewal.hpp"

#include <nlohmann/json.hpp>

#include "daemon/agent/credentials.hpp"
#include "daemon/agent/rejected_request.hpp"

namespace kubexm::agent {

CertificateRenewal::CertificateRenewal(AgentContext& context, Order order,
                                       kube::ClusterCredentials present, Done done)
    : Activity(context, std::move(done)),
      order_(std::move(order)),
      credentials_(std::move(present)) {
    order_.spec.used_key = public_key_of(credentials_);
}

void CertificateRenewal::start() {
    auto api = context().connect(copy_of(credentials_));
    if (!api) return finish(std::unexpected(api.error()));
    api_ = *std::move(api);
    certificate_ = std::make_unique<CertificateOrder>(
        context(), *api_, order_.spec,
        [this](Result<Credential> credential) { on_issued(std::move(credential)); });
    certificate_->start();
}

void CertificateRenewal::on_issued(Result<Credential> credential) {
    certificate_.reset();
    if (!credential) return finish(std::unexpected(credential.error()));
    credentials_.certificate = std::move(credential->certificate);
    credentials_.key = std::move(credential->key);
    auto api = context().connect(copy_of(credentials_));
    if (!api) return finish(std::unexpected(api.error()));
    api_ = *std::move(api);
    test_ = api_->get(order_.test_path,
                      [this](const kube::Answer<nlohmann::json>& object) { on_tested(object); });
}

void CertificateRenewal::on_tested(const kube::Answer<nlohmann::json>& object) {
    const bool is_accepted = object || object.error().error.code == Code::not_found;
    if (is_accepted) return finish(std::move(credentials_));
    const Error why = during("testing the new certificate", object.error().error).error();
    if (why.code != Code::denied) return finish(std::unexpected(why));
    finish(std::unexpected(reject(context(), order_.spec.key_file, why)));
}

}  // namespace kubexm::agent
