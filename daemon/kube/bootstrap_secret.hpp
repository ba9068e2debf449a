#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/kube/kubeconfig.hpp"
#include "daemon/model/node_join.hpp"

namespace kubexm::kube {

/// What the bootstrap secret of an assignment holds.
struct BootstrapMaterial {
    ClusterCredentials access;  // with the bootstrap credentials; `access.ca` may be empty
    model::KubeletSettings kubelet;
    std::vector<std::string> notes;  // what was asked for and is not done
};

std::string secret_path(const std::string& namespace_, const std::string& name);

/// The secret of the TLS-bootstrap mode. `ca.crt` of the secret goes before the kubeconfig's CA;
/// where neither is there and the server is `management.server`, it is the management cluster's.
/// invalid: names the key that is missing or wrong, never its value. What is given is wiped.
Result<BootstrapMaterial> material_from_secret(nlohmann::json secret,
                                               const std::string& management_server,
                                               const std::string& management_ca);

}  // namespace kubexm::kube
