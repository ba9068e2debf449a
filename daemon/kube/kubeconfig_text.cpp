#include <nlohmann/json.hpp>

#include "daemon/base/base64.hpp"
#include "daemon/kube/fields.hpp"
#include "daemon/kube/kubeconfig.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

json cluster_of(const ClusterCredentials& access) {
    json cluster{{"server", access.server}};
    if (!access.ca.empty()) cluster["certificate-authority-data"] = base64(access.ca);
    if (!access.server_name.empty()) cluster["tls-server-name"] = access.server_name;
    return cluster;
}

json user_of(const ClusterCredentials& access) {
    return {{"client-certificate-data", base64(access.certificate)},
            {"client-key-data", base64(access.key.reveal())}};
}

}  // namespace

/// JSON is YAML.
Secret kubeconfig_of(const ClusterCredentials& access) {
    json user = user_of(access);
    json document{{"apiVersion", "v1"},
                  {"kind", "Config"},
                  {"clusters", {{{"name", "default-cluster"}, {"cluster", cluster_of(access)}}}},
                  {"users", {{{"name", "default-auth"}, {"user", std::move(user)}}}},
                  {"contexts",
                   {{{"name", "default-context"},
                     {"context", {{"cluster", "default-cluster"}, {"user", "default-auth"}}}}}},
                  {"current-context", "default-context"}};
    Secret text(document.dump(2) + "\n");
    wipe_texts(document);
    return text;
}

}  // namespace kubexm::kube
