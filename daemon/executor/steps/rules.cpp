#include "daemon/executor/steps/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/grammar.hpp"
#include "daemon/base/host_names.hpp"
#include "daemon/base/overloaded.hpp"
#include "daemon/base/refusal.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"
#include "daemon/model/cluster_rule.hpp"
#include "daemon/model/denied_sysctls.hpp"
#include "daemon/model/step_names.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kMaxShown = 128;  // of a refused path
constexpr const char* kPki = "/etc/kubernetes/pki";

bool is_below(const std::string& path, const std::string& allowed) {
    return path == allowed || path.starts_with(allowed + "/");
}

bool is_bundle_path(const std::string& path) {
    return (is_below(path, kPki) || is_below(path, model::kRegistryCas)) &&
           is_certificate_name(path.substr(path.rfind('/') + 1));
}

bool sysctl_matches(const std::string& key, const std::string& entry) {
    if (!entry.ends_with(".*")) return key == entry;
    return key.starts_with(entry.substr(0, entry.size() - 1));
}

constexpr std::string_view kPlain = "http://";
constexpr std::string_view kEncrypted = "https://";

/// A registry, or the URL of a mirror. "*" permits any with TLS, and only an entry with http://
/// plain HTTP: a machine between could send other images.
Result<> registry_permitted(const model::AllowList& allow, const std::string& named) {
    const auto has = [&](std::string_view entry) {
        return std::ranges::find(allow.registries, entry) != allow.registries.end();
    };
    const bool is_plain = named.starts_with(kPlain);
    if (has(named) || (has("*") && !is_plain)) return {};
    const std::string host =
        named.starts_with(kEncrypted) ? named.substr(kEncrypted.size()) : named;
    if (!is_plain && (has(host) || has(fmt::format("{}{}", kPlain, host)))) return {};
    return refusal("registries", Code::denied,
                   fmt::format("{} is not in allow.registries", is_plain ? named : host));
}

Result<> registries_permitted(const model::AllowList& allow, const model::RegistryHosts& hosts) {
    TRY(registry_permitted(allow, hosts.registry));
    for (const model::RegistryMirror& mirror : hosts.mirrors) {
        TRY(registry_permitted(allow, mirror.endpoint));
    }
    return {};
}

std::string registry_of(const std::string& image) {
    const std::string_view host = host_in_image(image);
    return std::string(host.empty() ? "docker.io" : host);
}

Result<> cluster_permitted(const model::AllowList& allow, const std::string& server) {
    if (model::rule_for(allow.clusters, server)) return {};
    return refusal("clusters", Code::denied,
                   fmt::format("{} is not in allow.clusters", printable(server)));
}

Result<> sysctls_permitted(const model::AllowList& allow, const model::SysctlFile& file) {
    for (const model::Pair& pair : file.values) TRY(sysctl_permitted(allow, pair.key, pair.value));
    return {};
}

Result<> modules_permitted(const model::AllowList& allow, const model::ModulesFile& file) {
    for (const std::string& name : file.modules) TRY(listed(allow.modules, name, "modules"));
    return {};
}

}  // namespace

Result<> check_path(const std::string& path) {
    if (is_absolute_path(path)) return {};
    return refusal("path", Code::invalid,
                   fmt::format("path {}: expected {}", printable(path.substr(0, kMaxShown)),
                               kAbsolutePath.words));
}

Result<> path_permitted(const model::AllowList& allow, std::string_view type,
                        const std::string& path) {
    TRY(check_path(path));
    const auto list = allow.directories.find(std::string(type));
    if (list != allow.directories.end()) {
        for (const std::string& allowed : list->second) {
            if (is_below(path, allowed)) return {};
        }
    }
    return refusal("directories", Code::denied,
                   fmt::format("{} is not below a directory of allow.directories.{}", path, type));
}

Result<> access_permitted(const model::FileAccess& access, std::uint32_t most) {
    const bool is_roots = access.uid == 0 && access.gid == 0;
    if (is_roots && (access.mode.bits & ~most) == 0) return {};
    return refusal(
        "access", Code::denied,
        fmt::format("expected owner and group root and a mode within {:04o}, found {}:{} "
                    "and {:04o}",
                    most, access.uid, access.gid, access.mode.bits));
}

Result<> listed(const std::vector<std::string>& list, const std::string& name,
                std::string_view key) {
    if (std::ranges::find(list, name) != list.end()) return {};
    return refusal(key, Code::denied, fmt::format("{} is not in allow.{}", name, key));
}

Result<> document_permitted(const model::AllowList& allow, const model::Document& document) {
    const std::string type(std::visit([](const auto& each) { return each.kType; }, document));
    TRY(listed(allow.documents, type, "documents"));
    return std::visit(
        overloaded{
            [&](const model::Kubeconfig& file) { return cluster_permitted(allow, file.server); },
            [&](const model::ContainerdConfiguration& file) {
                return registry_permitted(allow, registry_of(file.sandbox_image));
            },
            [&](const model::RegistryHosts& hosts) { return registries_permitted(allow, hosts); },
            [&](const model::CniConfiguration& network) {
                return listed(allow.links, network.bridge, "links");
            },
            [&](const model::SysctlFile& file) { return sysctls_permitted(allow, file); },
            [&](const model::ModulesFile& file) { return modules_permitted(allow, file); },
            [](const OneOf<model::KubeletService, model::KubeletConfiguration,
                           model::ProxyDropIn> auto&) { return Result<>(); },
        },
        document);
}

Result<> path_suits_kind(const std::string& path, model::DataKind kind) {
    switch (kind) {
        case model::DataKind::ca_bundle:
            if (is_bundle_path(path)) return {};
    }
    return refusal("data-paths", Code::denied,
                   fmt::format("{}: expected NAME.crt below {} or {} for a {}", path, kPki,
                               model::kRegistryCas, name_of(kind)));
}

Result<> sysctl_permitted(const model::AllowList& allow, const std::string& key,
                          const std::string& value) {
    if (!is_sysctl_key(key)) {
        TRY(refusal("sysctl-keys", Code::invalid,
                    fmt::format("sysctl key: expected {}", kSysctlKey.words)));
    }
    if (model::is_denied_sysctl(key)) {
        TRY(refusal("denied-sysctls", Code::denied,
                    fmt::format("{} makes the kernel run programs or drop its protections; no "
                                "configuration can allow it",
                                key)));
    }
    if (!is_sysctl_value(value)) {
        TRY(refusal("sysctl-values", Code::invalid,
                    fmt::format("sysctl value: expected {}", kSysctlValue.words)));
    }
    for (const std::string& entry : allow.sysctls) {
        if (sysctl_matches(key, entry)) return {};
    }
    return refusal("sysctls", Code::denied, fmt::format("{} is not in allow.sysctls", key));
}

}  // namespace kubexm::executor
