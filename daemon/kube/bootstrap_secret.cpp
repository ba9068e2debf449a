#include "daemon/kube/bootstrap_secret.hpp"

#include <fmt/format.h>

#include "daemon/base/base64.hpp"
#include "daemon/base/try.hpp"
#include "daemon/kube/fields.hpp"
#include "daemon/kube/kubelet_settings.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

/// A key of the secret's data, decoded; empty if it is missing.
Result<std::string> data_at(const json& secret, const char* key) {
    auto bytes = from_base64(text_at(secret, {"data", key}));
    if (!bytes) return during(fmt::format("data.{}", key), bytes.error());
    return bytes;
}

/// Without a CA the API server could not be verified.
Result<std::string> ca_for(const ClusterCredentials& credentials, std::string from_secret,
                           const std::string& management_server, const std::string& management_ca) {
    if (!from_secret.empty()) return from_secret;
    if (!credentials.ca.empty()) return credentials.ca;
    if (credentials.server == management_server) return management_ca;
    return fail(Code::invalid,
                fmt::format("data.ca.crt: expected the CA of {}, found none there and no "
                            "certificate-authority-data in data.bootstrap-kubeconfig; add one of "
                            "them",
                            credentials.server));
}

Result<ClusterCredentials> credentials_of(const json& secret) {
    auto text = TRY(data_at(secret, "bootstrap-kubeconfig"));
    if (text.empty()) {
        return fail(Code::invalid,
                    "data.bootstrap-kubeconfig is missing: it is needed to request the node's "
                    "certificate");
    }
    const Secret kubeconfig(std::move(text));
    auto credentials = credentials_from_kubeconfig(kubeconfig.reveal());
    if (!credentials) return during("data.bootstrap-kubeconfig", credentials.error());
    return credentials;
}

Result<BootstrapMaterial> read_material(const json& secret, const std::string& management_server,
                                        const std::string& management_ca) {
    auto credentials = TRY(credentials_of(secret));
    auto ca = TRY(data_at(secret, "ca.crt"));
    credentials.ca = TRY(ca_for(credentials, std::move(ca), management_server, management_ca));
    const auto config = TRY(data_at(secret, "kubelet-config.yaml"));
    BootstrapMaterial material{.credentials = std::move(credentials), .kubelet = {}, .notes = {}};
    auto settings = settings_from_kubelet_config(config, material.notes);
    if (!settings) return during("data.kubelet-config.yaml", settings.error());
    material.kubelet = *std::move(settings);
    return material;
}

}  // namespace

std::string secret_path(const std::string& namespace_, const std::string& name) {
    return fmt::format("/api/v1/namespaces/{}/secrets/{}", namespace_, name);
}

Result<BootstrapMaterial> material_from_secret(json secret, const std::string& management_server,
                                               const std::string& management_ca) {
    auto material = read_material(secret, management_server, management_ca);
    wipe_texts(secret);
    return material;
}

}  // namespace kubexm::kube
