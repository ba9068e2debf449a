#include "daemon/executor/engine/authorities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "daemon/base/refusal.hpp"
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

constexpr const char* kRelease = "release the host first";
constexpr const char* kGiveUp =
    "the journal does not know this node any more; to give it up: systemctl disable --now kubelet "
    "&& rm /etc/systemd/system/kubelet.service";

std::string named(const std::string& server, const std::optional<std::string>& name) {
    return name ? fmt::format("{} with the name {}", printable(server), printable(*name))
                : printable(server);
}

bool is_there(const Authority& one, CaUse use, const std::optional<PresentCluster>& present) {
    return present &&
           is_among(use == CaUse::client ? present->client_cas : present->server_cas, one);
}

Result<> may_use_authority(const Authority& one, CaUse use, const TrustedPins& trusted,
                           const std::optional<PresentCluster>& present) {
    const bool is_any_good = trusted.pinned.empty() && !(present && use == CaUse::client);
    if (is_any_good || trusted.has(one) || is_there(one, use, present)) return {};
    return refusal(
        "ca-pins", Code::denied,
        fmt::format("CA {:.512} with pin sha256:{}: expected one that is pinned in "
                    "allow.clusters{}; to permit it, add the pin to the API server's entry "
                    "in executor.yaml, then: systemctl reload kubexm-executor; or, {}",
                    one.name, one.pin, present ? ", or signed by one that this node trusts" : "",
                    kConfirmCa));
}

/// The CAs of the node's API server, without those that came later and that nobody confirmed.
std::vector<Authority> confirmed_cas(const PresentCluster& present, const TrustedPins& trusted) {
    const auto later = unconfirmed(present, trusted);
    std::vector<Authority> found = present.server_cas;
    std::erase_if(
        found, [&](const Authority& one) { return std::ranges::find(later, one) != later.end(); });
    return found;
}

/// A bundle without any of them would make another server pass for the node's.
Result<> keeps_server(const std::vector<Authority>& wanted, const TrustedPins& trusted,
                      const PresentCluster& present) {
    const auto known = confirmed_cas(present, trusted);
    const bool keeps_one = std::ranges::any_of(wanted, [&](const Authority& one) {
        return std::ranges::find(known, one.pin, &Authority::pin) != known.end();
    });
    if (keeps_one) return {};
    for (const Authority& one : wanted) {
        if (trusted.has(one) || is_among(known, one)) continue;
        TRY(refusal(
            "ca-stays", Code::denied,
            fmt::format("CA {:.512} with pin sha256:{}: expected it beside a CA that this "
                        "node has for its API server, not in place of all; to permit it, {}",
                        one.name, one.pin, kConfirmCa)));
    }
    return {};
}

}  // namespace

bool TrustedPins::has(const Authority& one) const {
    return std::ranges::find(pinned, one.pin) != pinned.end() ||
           std::ranges::find(confirmed, one.pin) != confirmed.end();
}

Result<> may_use_server(const model::Kubeconfig& wanted,
                        const std::optional<PresentCluster>& present) {
    const bool is_same = present && present->server == wanted.server;
    if (!present || (is_same && present->server_name == wanted.server_name)) return {};
    return refusal("node-server", Code::denied,
                   fmt::format("API server {}: expected {}, the one of the node on this host; "
                               "{}",
                               named(wanted.server, wanted.server_name),
                               named(present->server, present->server_name),
                               present->is_in_journal ? kRelease : kGiveUp));
}

Result<> may_touch_authorities(const model::Step& step) {
    const std::string path = model::path_of(step);
    const bool is_file = path == model::kClusterCa || path == model::kClientCa;
    const bool is_above = path == "/etc/kubernetes" || path == "/etc/kubernetes/pki";
    const auto* file = std::get_if<model::DataFile>(&step);
    const bool is_bundle = file != nullptr && file->kind == model::DataKind::ca_bundle;
    const bool is_link = std::holds_alternative<model::Symlink>(step);
    if (!(is_file && !is_bundle) && !(is_above && is_link)) return {};
    return refusal("ca-files", Code::denied, path + ": expected a data-file of kind ca-bundle");
}

Result<> brings_authorities(const std::vector<model::DataFile>& bundles) {
    for (const char* path : {model::kClusterCa, model::kClientCa}) {
        if (std::ranges::find(bundles, path, &model::DataFile::path) != bundles.end()) continue;
        TRY(refusal(
            "ca-bundles", Code::denied,
            fmt::format("{}: expected its CA bundle in the plan with the kubeconfig", path)));
    }
    return {};
}

Result<> may_use_authorities(const std::vector<Authority>& wanted, CaUse use,
                             const TrustedPins& trusted,
                             const std::optional<PresentCluster>& present) {
    for (const Authority& one : wanted) TRY(may_use_authority(one, use, trusted, present));
    return present && use == CaUse::server ? keeps_server(wanted, trusted, *present) : Result<>();
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
