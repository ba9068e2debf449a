#include "daemon/kube/bootstrap_secret.hpp"

#include <fmt/format.h>

#include "daemon/base/base64.hpp"
#include "daemon/kube/fields.hpp"
#include "daemon/kube/kubelet_settings.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

/// A key of the secret's data, decoded; empty where it is not there.
Result<std::string> data_at(const json& secret, const char* key) {
    auto bytes = from_base64(text_at(secret, {"data", key}));
    if (!bytes) return during(fmt::format("data.{}", key), bytes.error());
    return bytes;
}

/// The host must know whom it talks to: never without a CA.
Result<std::string> ca_for(const ClusterCredentials& access, std::string from_secret,
                           const std::string& management_server, const std::string& management_ca) {
    if (!from_secret.empty()) return from_secret;
    if (!access.ca.empty()) return access.ca;
    if (access.server == management_server) return management_ca;
    return fail(Code::invalid,
                fmt::format("neither data.ca.crt nor certificate-authority-data of "
                            "data.bootstrap-kubeconfig is there, and {} is not the management "
                            "cluster: put the CA of that API server into the kubeconfig",
                            access.server));
}

Result<ClusterCredentials> access_of(const json& secret) {
    auto text = data_at(secret, "bootstrap-kubeconfig");
    if (!text) return std::unexpected(text.error());
    if (text->empty()) {
        return fail(Code::invalid,
                    "data.bootstrap-kubeconfig is missing: without it the host cannot "
                    "ask for the node's certificate");
    }
    const Secret kubeconfig(*std::move(text));
    auto access = access_from_kubeconfig(kubeconfig.reveal());
    if (!access) return during("data.bootstrap-kubeconfig", access.error());
    return access;
}

Result<BootstrapMaterial> read_material(const json& secret, const std::string& management_server,
                                        const std::string& management_ca) {
    auto access = access_of(secret);
    if (!access) return std::unexpected(access.error());
    auto given = data_at(secret, "ca.crt");
    if (!given) return std::unexpected(given.error());
    auto ca = ca_for(*access, *std::move(given), management_server, management_ca);
    if (!ca) return std::unexpected(ca.error());
    access->ca = *std::move(ca);
    auto config = data_at(secret, "kubelet-config.yaml");
    if (!config) return std::unexpected(config.error());
    BootstrapMaterial material{.access = *std::move(access), .kubelet = {}, .notes = {}};
    auto wishes = wishes_from_kubelet_config(*config, material.notes);
    if (!wishes) return during("data.kubelet-config.yaml", wishes.error());
    material.kubelet = *std::move(wishes);
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
