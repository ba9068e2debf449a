#include "daemon/executor/steps/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/grammar.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"
#include "daemon/model/cluster_rule.hpp"
#include "daemon/model/denied_sysctls.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kMaxShown = 128;  // of a refused path

bool is_below(const std::string& path, const std::string& allowed) {
    return path == allowed || path.starts_with(allowed + "/");
}

bool sysctl_matches(const std::string& key, const std::string& entry) {
    if (!entry.ends_with(".*")) return key == entry;
    return key.starts_with(entry.substr(0, entry.size() - 1));
}

/// "*" permits any.
Result<> listed_or_any(const std::vector<std::string>& list, const std::string& name,
                       std::string_view key) {
    if (std::ranges::find(list, "*") != list.end()) return {};
    return listed(list, name, key);
}

/// As containerd reads it: a first component without dot, colon or "localhost" is no host.
std::string registry_of(const std::string& image) {
    const std::string first = image.substr(0, image.find('/'));
    const bool is_host =
        first != image && (first == "localhost" || first.find_first_of(".:") != std::string::npos);
    return is_host ? first : "docker.io";
}

}  // namespace

Result<> check_path(const std::string& path) {
    if (is_absolute_path(path)) return {};
    return fail(Code::invalid,
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
    return fail(Code::denied,
                fmt::format("{} is not below a directory of allow.directories.{}", path, type));
}

Result<> access_permitted(const model::FileAccess& access, std::uint32_t most) {
    const bool is_roots = access.uid == 0 && access.gid == 0;
    if (is_roots && (access.mode.bits & ~most) == 0) return {};
    return fail(Code::denied, fmt::format("expected owner and group root and a mode within {:04o}, "
                                          "found {}:{} and {:04o}",
                                          most, access.uid, access.gid, access.mode.bits));
}

Result<> listed(const std::vector<std::string>& list, const std::string& name,
                std::string_view key) {
    if (std::ranges::find(list, name) != list.end()) return {};
    return fail(Code::denied, fmt::format("{} is not in allow.{}", name, key));
}

Result<> document_permitted(const model::AllowList& allow, const model::Document& document) {
    const std::string type(std::visit([](const auto& each) { return each.kType; }, document));
    TRY(listed(allow.documents, type, "documents"));
    if (const auto* kubeconfig = std::get_if<model::Kubeconfig>(&document)) {
        if (model::rule_for(allow.clusters, kubeconfig->server)) return {};
        return fail(Code::denied,
                    fmt::format("{} is not in allow.clusters", printable(kubeconfig->server)));
    }
    if (const auto* containerd = std::get_if<model::ContainerdConfiguration>(&document)) {
        return listed_or_any(allow.registries, registry_of(containerd->sandbox_image),
                             "registries");
    }
    return {};
}

Result<> sysctl_permitted(const model::AllowList& allow, const std::string& key,
                          const std::string& value) {
    if (!is_sysctl_key(key)) {
        return fail(Code::invalid, fmt::format("sysctl key: expected {}", kSysctlKey.words));
    }
    if (model::is_denied_sysctl(key)) {
        return fail(Code::denied, fmt::format("{} makes the kernel run programs or drop its "
                                              "protections; no configuration can allow it",
                                              key));
    }
    if (!is_sysctl_value(value)) {
        return fail(Code::invalid, fmt::format("sysctl value: expected {}", kSysctlValue.words));
    }
    for (const std::string& entry : allow.sysctls) {
        if (sysctl_matches(key, entry)) return {};
    }
    return fail(Code::denied, fmt::format("{} is not in allow.sysctls", key));
}

}  // namespace kubexm::executor
