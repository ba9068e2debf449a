#pragma once

#include <optional>

#include "daemon/base/error.hpp"
#include "daemon/executor/engine/authorities.hpp"
#include "daemon/executor/engine/record_store.hpp"
#include "daemon/executor/host/files.hpp"
#include "daemon/model/step.hpp"

namespace kubexm::executor {

/// The cluster of the kubelet of ours on this host, of any owner: as the ledger has it, or, where
/// root has discarded the journal, as the files say. Nothing: there is none.
Result<std::optional<PresentCluster>> present_cluster(Records& records, const Root& root);

/// The kubeconfig that a step writes, or none.
const model::Kubeconfig* kubeconfig_of(const model::Step& step);

/// The CAs of the API server or of kubelet's clients that a step writes, or none.
const model::DataFile* cluster_bundle(const model::Step& step);

}  // namespace kubexm::executor
