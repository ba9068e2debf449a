#include "daemon/agent/secret_reader.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/base/log.hpp"
#include "daemon/base/try.hpp"
#include "daemon/pki/certificate.hpp"

namespace kubexm::agent {

namespace {

Error with_advice(const model::Reference& secret, Error error) {
    if (error.code == Code::not_found) {
        error.what += ". The bootstrap provider creates it: check the Machine's bootstrap object";
    }
    if (error.code == Code::denied) {
        error.what +=
            fmt::format(". Allow this host to get secrets in namespace {}", secret.namespace_);
    }
    return error;
}

ClusterSettings settings_of(const model::Reference& secret,
                            const kube::BootstrapMaterial& material) {
    return {.secret = secret,
            .server = material.credentials.server,
            .server_name = material.credentials.server_name,
            .ca = material.credentials.ca,
            .kubelet = material.kubelet,
            .notes = material.notes};
}

}  // namespace

SecretReader::SecretReader(AgentContext& context, ManagementApi management, model::Reference secret,
                           Done done)
    : Activity(context, std::move(done)),
      management_(std::move(management)),
      secret_(std::move(secret)) {}

void SecretReader::start() {
    call_ = management_.api->get(
        kube::secret_path(secret_.namespace_, secret_.name),
        [this](kube::Answer<nlohmann::json> secret) { on_secret(std::move(secret)); });
}

void SecretReader::on_secret(kube::Answer<nlohmann::json> secret) {
    auto material = read(std::move(secret));
    const bool is_new =
        material && context().state.read().settings != settings_of(secret_, *material);
    if (is_new) {
        for (const std::string& note : material->notes) log::notice(note);
    }
    context().state.change([&](AgentState& state) {
        state.settings_problem.reset();
        if (!material) {
            state.settings_problem = material.error();
        } else if (is_new) {
            state.settings = settings_of(secret_, *material);
        }
    });
    finish(std::move(material));
}

Result<kube::BootstrapMaterial> SecretReader::read(kube::Answer<nlohmann::json> secret) const {
    if (!secret) return std::unexpected(with_advice(secret_, secret.error().error));
    auto material =
        kube::material_from_secret(*std::move(secret), management_.api->server(), management_.ca);
    if (!material) return during(fmt::format("secret {}", secret_.name), material.error());
    auto ca = pki::read_bundle(material->credentials.ca);
    if (!ca) return during(fmt::format("CA in secret {}", secret_.name), ca.error());
    material->credentials.ca = *std::move(ca);
    return material;
}

}  // namespace kubexm::agent
