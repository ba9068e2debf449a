#include <algorithm>
#include <chrono>

#include "daemon/base/io.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/engine/authorities.hpp"
#include "daemon/executor/engine/engine.hpp"
#include "daemon/executor/engine/ledger_steps.hpp"
#include "daemon/model/owner.hpp"

// The API server and the CAs that a plan of kubexmd brings.

namespace kubexm::executor {

namespace {

using model::DataFile;
using pki::Authority;

constexpr std::size_t kMaxBundle = std::size_t{256} * 1024;

std::chrono::sys_seconds now() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

bool is_of_machine(const LedgerEntry& entry) {
    return std::ranges::any_of(entry.owners, [](const LedgerOwner& owner) {
        return model::is_machine_owner(owner.owner);
    });
}

Result<std::vector<Authority>> read_bundle(const Vault& vault, const DataFile& file) {
    const Fd blob = TRY(vault.open_blob(file.digest));
    const std::string text = TRY(read_whole(blob.get(), file.path, kMaxBundle));
    auto authorities = pki::read_authorities(text, now());
    if (!authorities) return during(file.path, authorities.error());
    return authorities;
}

const model::Kubeconfig* kubeconfig_of(const model::Step& step) {
    const auto* file = std::get_if<model::RenderedFile>(&step);
    return file == nullptr ? nullptr : std::get_if<model::Kubeconfig>(&file->document);
}

/// Nothing: no node of ours is on this host.
Result<std::optional<PresentCluster>> present_cluster(Records& records) {
    PresentCluster present;
    const auto entries = TRY(records.journal.ledger(""));
    for (const LedgerEntry& entry : entries) {
        if (!is_of_machine(entry)) continue;
        const auto step = TRY(applied_step(entry));
        if (!step) continue;
        if (const auto* file = std::get_if<DataFile>(&*step)) {
            const bool is_client = file->path == model::kClientCa;
            if (!is_client && file->path != model::kClusterCa) continue;
            auto& list = is_client ? present.client_cas : present.server_cas;
            // CAs that have expired since do not count.
            list = read_bundle(records.vault, *file).value_or(std::vector<Authority>());
            present.bundles.push_back(*file);
        }
        if (const auto* kubeconfig = kubeconfig_of(*step)) present.server = kubeconfig->server;
    }
    if (present.server.empty()) return std::nullopt;
    return present;
}

/// The API server of its kubeconfigs; empty: it has none.
Result<std::string> server_in(const model::Plan& plan) {
    std::string server;
    for (const model::Step& step : plan.steps) {
        const model::Kubeconfig* kubeconfig = kubeconfig_of(step);
        if (kubeconfig == nullptr) continue;
        if (!server.empty() && kubeconfig->server != server) {
            return fail(Code::denied, "plan: expected kubeconfigs for one API server");
        }
        server = kubeconfig->server;
    }
    return server;
}

std::vector<DataFile> bundles_in(const model::Plan& plan) {
    std::vector<DataFile> bundles;
    for (const model::Step& step : plan.steps) {
        const auto* file = std::get_if<DataFile>(&step);
        if (file != nullptr && file->kind == model::DataKind::ca_bundle) bundles.push_back(*file);
    }
    return bundles;
}

}  // namespace

Result<> Engine::check_authorities(Records& records, const model::Plan& plan,
                                   const Caller& caller) {
    if (caller.uid == 0) return {};  // root decides whom this host trusts
    for (const model::Step& step : plan.steps) TRY(may_touch_authorities(step));
    const std::string server = TRY(server_in(plan));
    const std::vector<DataFile> bundles = bundles_in(plan);
    if (server.empty() && bundles.empty()) return {};
    const auto present = TRY(present_cluster(records));
    if (!server.empty()) TRY(may_use_server(server, present));
    const std::string known = server.empty() && present ? present->server : server;
    const std::vector<std::string> pins = model::pins_for(allow_.clusters, known);
    for (const DataFile& file : bundles) {
        // Also with a CA that has expired since: nothing changes.
        if (present && std::ranges::find(present->bundles, file) != present->bundles.end())
            continue;
        const auto wanted = TRY(read_bundle(records.vault, file));
        const CaUse use = file.path == model::kClientCa ? CaUse::client : CaUse::server;
        TRY(may_use_authorities(wanted, use, pins, present));
    }
    return {};
}

}  // namespace kubexm::executor
