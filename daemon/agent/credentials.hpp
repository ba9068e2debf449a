#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "daemon/agent/certificate_order.hpp"
#include "daemon/agent/store.hpp"
#include "daemon/kube/kubeconfig.hpp"
#include "daemon/model/snapshot.hpp"

namespace kubexm::agent {

// The way to a cluster with a certificate of our own, kept in the store as a kubeconfig.

/// What is kept under a name. denied: its certificate has expired.
Result<std::optional<kube::Access>> kept_access(const Store& store, const std::string& name,
                                                std::chrono::sys_seconds now);

/// `where` with the credential in the place of the one it has; kept before it is returned.
Result<kube::Access> keep_access(const Store& store, const std::string& name,
                                 const kube::Access& where, Credential credential);

/// A second one: whoever talks to a server holds its own.
kube::Access copy_of(const kube::Access& access);

/// For the Snapshot. A certificate that cannot be read is shown by its name alone.
model::CertificateView view_of(const std::string& name, const kube::Access& access);

/// Certificate and key in one text, as kubelet reads them.
Secret pair_of(const kube::Access& access);

}  // namespace kubexm::agent
