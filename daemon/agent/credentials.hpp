#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "daemon/agent/certificate_order.hpp"
#include "daemon/agent/credential_store.hpp"
#include "daemon/kube/kubeconfig.hpp"
#include "daemon/model/snapshot.hpp"

namespace kubexm::agent {

// The way to a cluster with a certificate of our own, kept in the store as a kubeconfig.

/// What is kept under a name. denied: its certificate has expired.
Result<std::optional<kube::ClusterCredentials>> load_credentials(const CredentialStore& store,
                                                                 const std::string& name,
                                                                 std::chrono::sys_seconds now);

/// `where` with the credential in the place of the one it has; kept before it is returned.
Result<kube::ClusterCredentials> store_credentials(const CredentialStore& store,
                                                   const std::string& name,
                                                   const kube::ClusterCredentials& where,
                                                   Credential credential);

/// A second one: whoever talks to a server holds its own.
kube::ClusterCredentials copy_of(const kube::ClusterCredentials& access);

/// For the Snapshot. A certificate that cannot be read is shown by its name alone.
model::CertificateView view_of(const std::string& name, const kube::ClusterCredentials& access);

/// Certificate and key in one text, as kubelet reads them.
Secret pair_of(const kube::ClusterCredentials& access);

}  // namespace kubexm::agent
