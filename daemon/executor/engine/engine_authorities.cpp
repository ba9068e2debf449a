#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/refusal.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/engine/authorities.hpp"
#include "daemon/executor/engine/data_kinds.hpp"
#include "daemon/executor/engine/engine.hpp"
#include "daemon/executor/engine/node_steps.hpp"
#include "daemon/executor/engine/present_cluster.hpp"
#include "daemon/executor/steps/steps.hpp"
#include "daemon/model/owner.hpp"

// The API server and the CAs that a plan of kubexmd brings.

namespace kubexm::executor {

namespace {

using model::DataFile;
using pki::Authority;

/// Its step would be applied again when the others leave, without another look at it.
Result<> no_other_client_cas(Journal& journal, const DataFile& file, const std::string& owner) {
    const auto entry = TRY(journal.ledger_entry(DataFile::kType, file.path));
    if (!entry) return {};
    for (const LedgerOwner& other : entry->owners) {
        const auto step = TRY(model::step_from_json(other.step));
        const auto* theirs = std::get_if<DataFile>(&step);
        if (other.owner == owner || (theirs != nullptr && theirs->digest == file.digest)) continue;
        TRY(refusal("client-cas", Code::denied,
                    fmt::format("{}: owner {} has other CAs there; undo it first", file.path,
                                other.owner)));
    }
    return {};
}

/// Its kubeconfig, of those for the same API server; none: it has none.
Result<const model::Kubeconfig*> kubeconfig_in(const model::Plan& plan) {
    const model::Kubeconfig* found = nullptr;
    for (const model::Step& step : plan.steps) {
        const model::Kubeconfig* each = kubeconfig_of(step);
        if (each == nullptr) continue;
        const bool is_same = found == nullptr || (each->server == found->server &&
                                                  each->server_name == found->server_name);
        if (!is_same) {
            TRY(refusal("one-server", Code::denied,
                        "plan: expected kubeconfigs for one API server"));
        }
        found = each;
    }
    return found;
}

/// Its bundles of the cluster. The CAs of registries, say, are judged by kind and list alone.
std::vector<DataFile> bundles_in(const model::Plan& plan) {
    std::vector<DataFile> bundles;
    for (const model::Step& step : plan.steps) {
        if (const auto* file = cluster_bundle(step)) bundles.push_back(*file);
    }
    return bundles;
}

Result<> may_confirm(const Caller& caller) {
    if (caller.uid == 0) return {};
    return refusal("trust-ca", Code::denied, "trust-ca: only root decides whom this host trusts");
}

Result<> judge_content(Records& records, const DataFile& file, const TrustedPins& trusted,
                       const std::optional<PresentCluster>& present) {
    const bool is_applied =
        present && std::ranges::find(present->bundles, file) != present->bundles.end();
    if (is_applied) return {};  // also with a CA that has expired since: nothing changes
    const auto wanted = TRY(authorities_in(records.vault, file));
    const CaUse use = file.path == model::kClientCa ? CaUse::client : CaUse::server;
    return may_use_authorities(wanted, use, trusted, present);
}

/// Whose CAs a plan brings; empty: it does not say, and there is no node.
std::string server_of(const model::Kubeconfig* kubeconfig,
                      const std::optional<PresentCluster>& present) {
    const std::string of_present = present ? present->server : "";
    return kubeconfig != nullptr ? kubeconfig->server : of_present;
}

std::vector<std::string> pins_of(const std::vector<Authority>& authorities) {
    std::vector<std::string> pins;
    pins.reserve(authorities.size());
    for (const Authority& one : authorities) pins.push_back(one.pin);
    return pins;
}

Result<> keeps_client_cas(Journal& journal, const std::vector<DataFile>& bundles,
                          const std::string& owner) {
    for (const DataFile& file : bundles) {
        if (file.path == model::kClientCa) TRY(no_other_client_cas(journal, file, owner));
    }
    return {};
}

/// Whether a step decides whom kubelet trusts: by its bundles, or by making kubelet read them.
bool brings_trust(const model::Step& step) {
    return cluster_bundle(step) != nullptr || kubeconfig_of(step) != nullptr || makes_kubelet(step);
}

}  // namespace

Result<> Engine::check_authorities(Records& records, const model::Plan& plan, const Caller& caller,
                                   const Present& found) {
    if (caller.uid == 0) return {};  // root decides whom this host trusts
    for (const model::Step& step : plan.steps) TRY(may_touch_authorities(step));
    const model::Kubeconfig* const kubeconfig = TRY(kubeconfig_in(plan));
    const std::vector<DataFile> bundles = bundles_in(plan);
    if (kubeconfig == nullptr && bundles.empty()) return {};
    const auto present = TRY(found);
    if (kubeconfig != nullptr) {
        TRY(may_use_server(*kubeconfig, present));
        TRY(brings_authorities(bundles));
    }
    TRY(keeps_client_cas(records.journal, bundles, plan.owner));
    TRY(judge_bundles(records, plan, present));
    const bool is_join = kubeconfig != nullptr && !present;
    return is_join ? check_join_again(records, kubeconfig->server, bundles) : Result<>();
}

Result<> Engine::judge_bundles(Records& records, const model::Plan& plan,
                               const std::optional<PresentCluster>& present) {
    const model::Kubeconfig* const kubeconfig = TRY(kubeconfig_in(plan));
    const TrustedPins trusted = TRY(trusted_pins(server_of(kubeconfig, present)));
    for (const DataFile& file : bundles_in(plan)) {
        TRY(judge_content(records, file, trusted, present));
    }
    return {};
}

Result<> Engine::check_join_again(Records& records, const std::string& server,
                                  const std::vector<DataFile>& bundles) {
    JoinedCluster wanted{.server = server, .server_pins = {}, .client_pins = {}};
    std::vector<Authority> clients;
    for (const DataFile& file : bundles) {
        auto read = TRY(authorities_in(records.vault, file));
        if (file.path == model::kClientCa) {
            clients = std::move(read);
        } else {
            wanted.server_pins = pins_of(read);
        }
    }
    TRY(joined_.check_room(wanted));
    const auto joined = TRY(joined_.all());
    const TrustedPins trusted = TRY(trusted_pins(server));
    return may_join_again(joined, wanted, clients, trusted);
}

Result<> Engine::remember_cluster(Records& records) {
    const auto present = TRY(present_cluster(records, root_));
    if (!present || present->server.empty() || present->client_cas.empty()) return {};
    return joined_.add(
        {present->server, pins_of(present->server_cas), pins_of(present->client_cas)});
}

Result<> Engine::permitted_now(Records& records, const model::Plan& plan, const model::Step& step,
                               const Caller& caller, const Present& present) {
    if (is_off("lists-again")) return {};
    TRY(permitted(allow_, step));
    const bool is_judged = caller.uid == 0 || plan.purpose == PlanPurpose::repair;
    if (is_judged || !brings_trust(step)) return {};
    const auto found = TRY(present);
    return judge_bundles(records, plan, found);
}

/// The step of an owner who remains when another leaves.
Result<> Engine::permitted_again(Records& records, const std::string& owner,
                                 const model::Step& step) {
    if (is_off("lists-again")) return {};
    TRY(permitted(allow_, step));
    const DataFile* const file = cluster_bundle(step);
    if (file == nullptr || !model::is_machine_owner(owner)) return {};
    const auto present = TRY(present_cluster(records, root_));
    const TrustedPins trusted = TRY(trusted_pins(present ? present->server : ""));
    return judge_content(records, *file, trusted, present);
}

Result<TrustedPins> Engine::trusted_pins(const std::string& server) const {
    return TrustedPins{.pinned = model::pins_for(allow_.clusters, server),
                       .confirmed = TRY(confirmed_.pins())};
}

Result<std::vector<Authority>> Engine::confirm_authorities(const std::string& pem,
                                                           const Caller& caller) {
    const auto good = may_confirm(caller);
    if (!good) return refuse(caller, good.error());
    auto authorities = pki::read_authorities(pem, system_seconds());
    if (!authorities) return refuse(caller, authorities.error());
    TRY(confirmed_.add(*authorities));
    for (const Authority& one : *authorities) note(caller, "CA confirmed", one.pin);
    return authorities;
}

Result<std::vector<Authority>> Engine::unconfirmed_authorities() {
    return store_.use([this](Records& records) -> Result<std::vector<Authority>> {
        const auto present = TRY(present_cluster(records, root_));
        if (!present) return std::vector<Authority>();
        return unconfirmed(*present, TRY(trusted_pins(present->server)));
    });
}

}  // namespace kubexm::executor
