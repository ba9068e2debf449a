#pragma once

#include "daemon/agent/activity.hpp"
#include "daemon/kube/bootstrap_secret.hpp"
#include "daemon/model/host.hpp"

namespace kubexm::agent {

/// The management cluster as activities use it; replaced when its credentials change.
struct ManagementApi {
    kube::Api* api = nullptr;
    std::string ca;  // used for a self-managed cluster whose secret has no CA
};

/// Reads the bootstrap secret. The settings in it become AgentState::settings; the credentials are
/// for the caller only.
class SecretReader : public Activity<kube::BootstrapMaterial> {
public:
    SecretReader(AgentContext& context, ManagementApi management, model::Reference secret,
                 Done done);
    void start() override;

private:
    void on_secret(kube::Answer<nlohmann::json> secret);
    Result<kube::BootstrapMaterial> read(kube::Answer<nlohmann::json> secret) const;

    ManagementApi management_;
    model::Reference secret_;
    kube::Api::Handle call_;
};

}  // namespace kubexm::agent
