#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/kube/kubeconfig.hpp"
#include "daemon/model/node_join.hpp"

namespace kubexm::kube {

/// The content of the bootstrap secret of an assignment.
struct BootstrapMaterial {
    ClusterCredentials credentials;  // of the bootstrap user; `ca` may be empty
    model::KubeletSettings kubelet;
    std::vector<std::string> notes;  // settings that are ignored
};

std::string secret_path(const std::string& namespace_, const std::string& name);

/// Reads the secret of the TLS-bootstrap mode, and wipes it. `ca.crt` of the secret takes
/// precedence over the kubeconfig's CA; without both, `management_ca` is used if the server is
/// `management_server`. invalid: names the key that is missing or wrong, never its value.
Result<BootstrapMaterial> material_from_secret(nlohmann::json secret,
                                               const std::string& management_server,
                                               const std::string& management_ca);

}  // namespace kubexm::kube
