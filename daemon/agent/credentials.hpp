#pragma once

#include <optional>
#include <string>

#include "daemon/agent/certificate_order.hpp"
#include "daemon/agent/credential_store.hpp"
#include "daemon/kube/kubeconfig.hpp"
#include "daemon/model/snapshot.hpp"

namespace kubexm::agent {

// Credentials for a cluster with a certificate of this host, stored as a kubeconfig.

/// Nothing: none are stored. Whether the certificate is valid now says the server: this host's
/// clock may be wrong.
Result<std::optional<kube::ClusterCredentials>> load_credentials(const CredentialStore& store,
                                                                 const std::string& name);

/// Stores the server of `bootstrap` with the new credential, then returns both.
Result<kube::ClusterCredentials> store_credentials(const CredentialStore& store,
                                                   const std::string& name,
                                                   const kube::ClusterCredentials& bootstrap,
                                                   Credential credential);

/// Whether both have the same server, checked in the same way: a new cluster at the same address
/// does not accept certificates of the old one.
bool is_same_cluster(const kube::ClusterCredentials& a, const kube::ClusterCredentials& b);

/// For a second connection: each holds its own.
kube::ClusterCredentials copy_of(const kube::ClusterCredentials& credentials);

/// The public key of the certificate; empty: it is not readable.
std::string public_key_of(const kube::ClusterCredentials& credentials);

/// For the Snapshot, with the time of the renewal on this host. An unreadable certificate is shown
/// by its name alone.
model::CertificateView view_of(const std::string& name, const kube::ClusterCredentials& credentials,
                               const model::HostFacts& host);

/// Certificate and key in one PEM file, as kubelet reads them.
Secret pair_of(const std::string& certificate, const Secret& key);

}  // namespace kubexm::agent
