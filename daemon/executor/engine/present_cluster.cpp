#include "daemon/executor/engine/present_cluster.hpp"

#include <string>
#include <utility>
#include <vector>

#include "daemon/base/digest.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/engine/data_kinds.hpp"
#include "daemon/executor/engine/ledger_steps.hpp"
#include "daemon/executor/engine/node_steps.hpp"
#include "daemon/executor/render/documents.hpp"
#include "daemon/executor/render/render.hpp"

namespace kubexm::executor {

namespace {

using model::DataFile;

constexpr std::size_t kMaxNodeFile = std::size_t{256} * 1024;
constexpr const char* kKubeletUnit = "/etc/systemd/system/kubelet.service";
constexpr const char* kKubeletConf = "/etc/kubernetes/kubelet.conf";

bool is_kubelet(const model::Kubeconfig& kubeconfig) {
    return kubeconfig.user == model::KubeconfigUser::kubelet;
}

std::vector<pki::Authority>& list_of(PresentCluster& present, const DataFile& file) {
    return file.path == model::kClientCa ? present.client_cas : present.server_cas;
}

Result<std::optional<PresentCluster>> cluster_in_ledger(Records& records) {
    PresentCluster present;
    bool is_there = false;
    const auto entries = TRY(records.journal.ledger(""));
    for (const LedgerEntry& entry : entries) {
        const auto step = TRY(applied_step(entry));
        if (!step) continue;
        is_there = is_there || makes_kubelet(*step);
        if (const auto* kubeconfig = kubeconfig_of(*step); kubeconfig && is_kubelet(*kubeconfig)) {
            present.server = kubeconfig->server;
            present.server_name = kubeconfig->server_name;
            is_there = true;
        }
        const DataFile* const file = cluster_bundle(*step);
        if (file == nullptr) continue;
        // CAs that have expired since do not count.
        list_of(present, *file) = valid_authorities_in(records.vault, *file);
        present.bundles.push_back(*file);
    }
    if (!is_there) return std::nullopt;
    return present;
}

/// Empty: absent, or nothing that we wrote.
std::string node_file(const Root& root, const std::string& path) {
    return read_file(root, path, kMaxNodeFile).value_or("");
}

void add_bundle_of_host(PresentCluster& present, const Root& root, const std::string& path) {
    const std::string pem = node_file(root, path);
    if (pem.empty()) return;
    const DataFile file{path, model::DataKind::ca_bundle, sha256(pem), {}};
    list_of(present, file) = pki::valid_authorities(pem, system_seconds());
    present.bundles.push_back(file);
}

/// Without a server where the kubeconfig is lost: kubelet still runs with the one that it has read.
std::optional<PresentCluster> cluster_on_host(const Root& root) {
    if (!node_file(root, kKubeletUnit).contains(kNotice)) return std::nullopt;
    PresentCluster present;
    present.is_in_journal = false;
    if (const auto kubeconfig = kubeconfig_from(node_file(root, kKubeletConf))) {
        present.server = kubeconfig->server;
        present.server_name = kubeconfig->server_name;
    }
    for (const char* path : {model::kClusterCa, model::kClientCa}) {
        add_bundle_of_host(present, root, path);
    }
    return present;
}

}  // namespace

Result<std::optional<PresentCluster>> present_cluster(Records& records, const Root& root) {
    auto present = TRY(cluster_in_ledger(records));
    return present ? present : cluster_on_host(root);
}

const model::Kubeconfig* kubeconfig_of(const model::Step& step) {
    const auto* file = std::get_if<model::RenderedFile>(&step);
    return file == nullptr ? nullptr : std::get_if<model::Kubeconfig>(&file->document);
}

const DataFile* cluster_bundle(const model::Step& step) {
    const auto* file = std::get_if<DataFile>(&step);
    const bool is_it = file != nullptr && file->kind == model::DataKind::ca_bundle &&
                       (file->path == model::kClusterCa || file->path == model::kClientCa);
    return is_it ? file : nullptr;
}

}  // namespace kubexm::executor
