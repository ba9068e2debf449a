#include <fmt/format.h>

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

Result<std::string> text_of(const Vault& vault, const DataFile& file) {
    const Fd blob = TRY(vault.open_blob(file.digest));
    return read_whole(blob.get(), file.path, kMaxBundle);
}

Result<std::vector<Authority>> read_bundle(const Vault& vault, const DataFile& file) {
    const std::string text = TRY(text_of(vault, file));
    auto authorities = pki::read_authorities(text, now());
    if (!authorities) return during(file.path, authorities.error());
    return authorities;
}

const model::Kubeconfig* kubeconfig_of(const model::Step& step) {
    const auto* file = std::get_if<model::RenderedFile>(&step);
    return file == nullptr ? nullptr : std::get_if<model::Kubeconfig>(&file->document);
}

bool is_kubelet(const model::Kubeconfig& kubeconfig) {
    return kubeconfig.user == model::KubeconfigUser::kubelet;
}

/// Nothing: no kubelet of ours is on this host, whoever owns it.
Result<std::optional<PresentCluster>> present_cluster(Records& records) {
    PresentCluster present;
    bool is_there = false;
    const auto entries = TRY(records.journal.ledger(""));
    for (const LedgerEntry& entry : entries) {
        const auto step = TRY(applied_step(entry));
        if (!step) continue;
        is_there = is_there || makes_kubelet(*step);
        if (const auto* kubeconfig = kubeconfig_of(*step); kubeconfig && is_kubelet(*kubeconfig)) {
            present.server = kubeconfig->server;
            is_there = true;
        }
        const auto* file = std::get_if<DataFile>(&*step);
        const bool is_client = file != nullptr && file->path == model::kClientCa;
        if (file == nullptr || (!is_client && file->path != model::kClusterCa)) continue;
        auto& list = is_client ? present.client_cas : present.server_cas;
        // CAs that have expired since do not count.
        list = pki::valid_authorities(text_of(records.vault, *file).value_or(""), now());
        present.bundles.push_back(*file);
    }
    if (!is_there) return std::nullopt;
    return present;
}

/// Its step would be applied again when the others leave, without another look at it.
Result<> no_other_client_cas(Journal& journal, const DataFile& file, const std::string& owner) {
    const auto entry = TRY(journal.ledger_entry(DataFile::kType, file.path));
    if (!entry) return {};
    for (const LedgerOwner& other : entry->owners) {
        const auto step = TRY(model::step_from_json(other.step));
        const auto* theirs = std::get_if<DataFile>(&step);
        if (other.owner == owner || (theirs != nullptr && theirs->digest == file.digest)) continue;
        return fail(Code::denied, fmt::format("{}: owner {} has other CAs there; undo it first",
                                              file.path, other.owner));
    }
    return {};
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

Result<> judge(Records& records, const std::string& owner, const DataFile& file,
               const TrustedPins& trusted, const std::optional<PresentCluster>& present) {
    const bool is_client = file.path == model::kClientCa;
    if (is_client) TRY(no_other_client_cas(records.journal, file, owner));
    const bool is_applied =
        present && std::ranges::find(present->bundles, file) != present->bundles.end();
    if (is_applied) return {};  // also with a CA that has expired since: nothing changes
    const auto wanted = TRY(read_bundle(records.vault, file));
    return may_use_authorities(wanted, is_client ? CaUse::client : CaUse::server, trusted, present);
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
    if (!server.empty()) {
        TRY(may_use_server(server, present));
        TRY(brings_authorities(bundles));
    }
    const std::string known = server.empty() && present ? present->server : server;
    const TrustedPins trusted = TRY(trusted_pins(known));
    for (const DataFile& file : bundles) TRY(judge(records, plan.owner, file, trusted, present));
    return {};
}

Result<TrustedPins> Engine::trusted_pins(const std::string& server) const {
    return TrustedPins{.pinned = model::pins_for(allow_.clusters, server),
                       .confirmed = TRY(confirmed_.pins())};
}

Result<std::vector<Authority>> Engine::confirm_authorities(const std::string& pem,
                                                           const Caller& caller) {
    if (caller.uid != 0) {
        return refuse(caller, {Code::denied, "trust-ca: only root decides whom this host trusts"});
    }
    auto authorities = pki::read_authorities(pem, now());
    if (!authorities) return refuse(caller, authorities.error());
    TRY(confirmed_.add(*authorities));
    for (const Authority& one : *authorities) note(caller, "CA confirmed", one.pin);
    return authorities;
}

Result<std::vector<Authority>> Engine::unconfirmed_authorities() {
    return store_.use([this](Records& records) -> Result<std::vector<Authority>> {
        const auto present = TRY(present_cluster(records));
        if (!present) return std::vector<Authority>();
        return unconfirmed(*present, TRY(trusted_pins(present->server)));
    });
}

}  // namespace kubexm::executor
