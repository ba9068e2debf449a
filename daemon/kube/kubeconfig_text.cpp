#include <nlohmann/json.hpp>

#include "daemon/base/base64.hpp"
#include "daemon/kube/fields.hpp"
#include "daemon/kube/kubeconfig.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

json cluster_of(const ClusterCredentials& credentials) {
    json cluster{{"server", credentials.server}};
    if (!credentials.ca.empty()) cluster["certificate-authority-data"] = base64(credentials.ca);
    if (!credentials.server_name.empty()) cluster["tls-server-name"] = credentials.server_name;
    return cluster;
}

json user_of(const ClusterCredentials& credentials) {
    return {{"client-certificate-data", base64(credentials.certificate)},
            {"client-key-data", base64(credentials.key.reveal())}};
}

}  // namespace

/// JSON is YAML.
Secret kubeconfig_of(const ClusterCredentials& credentials) {
    json user = user_of(credentials);
    json document{
        {"apiVersion", "v1"},
        {"kind", "Config"},
        {"clusters", {{{"name", "default-cluster"}, {"cluster", cluster_of(credentials)}}}},
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
