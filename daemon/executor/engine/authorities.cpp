#include "daemon/executor/engine/authorities.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::executor {

namespace {

using pki::Authority;

bool is_among(const std::vector<Authority>& list, const Authority& one) {
    return std::ranges::any_of(list, [&](const Authority& each) {
        return each.pin == one.pin || pki::has_signed(each, one);
    });
}

Result<> may_use_authority(const Authority& one, CaUse use, const TrustedPins& trusted,
                           const std::optional<PresentCluster>& present) {
    const bool is_any_good = trusted.pinned.empty() && !(present && use == CaUse::client);
    if (is_any_good || trusted.has(one)) return {};
    if (present) {
        const auto& there = use == CaUse::client ? present->client_cas : present->server_cas;
        if (is_among(there, one)) return {};
    }
    return fail(
        Code::denied,
        fmt::format("CA {:.512} with pin sha256:{}: expected one that is pinned in "
                    "allow.clusters{}; to permit it, add the pin to the API server's entry "
                    "in executor.yaml, then: systemctl reload kubexm-executor; or, with the CA in "
                    "a file: kubexmctl certs trust-ca FILE",
                    one.name, one.pin, present ? ", or signed by one that this node trusts" : ""));
}

}  // namespace

bool TrustedPins::has(const Authority& one) const {
    return std::ranges::find(pinned, one.pin) != pinned.end() ||
           std::ranges::find(confirmed, one.pin) != confirmed.end();
}

Result<> may_use_server(const std::string& server, const std::optional<PresentCluster>& present) {
    if (!present || present->server == server) return {};
    return fail(Code::denied,
                fmt::format("API server {}: expected {}, the one of the node on this host; release "
                            "the host first",
                            printable(server), present->server));
}

Result<> may_touch_authorities(const model::Step& step) {
    const std::string path = model::path_of(step);
    const bool is_file = path == model::kClusterCa || path == model::kClientCa;
    const bool is_above = path == "/etc/kubernetes" || path == "/etc/kubernetes/pki";
    const auto* file = std::get_if<model::DataFile>(&step);
    const bool is_bundle = file != nullptr && file->kind == model::DataKind::ca_bundle;
    const bool is_link = std::holds_alternative<model::Symlink>(step);
    if (!(is_file && !is_bundle) && !(is_above && is_link)) return {};
    return fail(Code::denied, path + ": expected a data-file of kind ca-bundle");
}

Result<> brings_authorities(const std::vector<model::DataFile>& bundles) {
    for (const char* path : {model::kClusterCa, model::kClientCa}) {
        if (std::ranges::find(bundles, path, &model::DataFile::path) != bundles.end()) continue;
        return fail(
            Code::denied,
            fmt::format("{}: expected its CA bundle in the plan with the kubeconfig", path));
    }
    return {};
}

bool makes_kubelet(const model::Step& step) {
    const auto* file = std::get_if<model::RenderedFile>(&step);
    const auto* unit = std::get_if<model::UnitState>(&step);
    return (file != nullptr && std::holds_alternative<model::KubeletService>(file->document)) ||
           (unit != nullptr && unit->name == "kubelet.service" && unit->active == true);
}

Result<> may_use_authorities(const std::vector<Authority>& wanted, CaUse use,
                             const TrustedPins& trusted,
                             const std::optional<PresentCluster>& present) {
    for (const Authority& one : wanted) TRY(may_use_authority(one, use, trusted, present));
    return {};
}

std::vector<Authority> unconfirmed(const PresentCluster& present, const TrustedPins& trusted) {
    if (present.client_cas.empty()) return {};  // they stay as the join wrote them
    std::vector<Authority> found = present.server_cas;
    std::erase_if(found, [&](const Authority& one) {
        return trusted.has(one) || is_among(present.client_cas, one);
    });
    return found;
}

}  // namespace kubexm::executor
