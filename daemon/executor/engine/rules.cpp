#include "daemon/executor/engine/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/text.hpp"
#include "daemon/model/denied_sysctls.hpp"

namespace kubexm::executor {

namespace {

bool below(const std::string& path, const std::string& allowed) {
    return path == allowed || path.starts_with(allowed + "/");
}

bool is_sysctl_key(const std::string& key) {
    const auto plain = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
    };
    return !key.empty() && std::all_of(key.begin(), key.end(), plain) && !key.contains("..") &&
           key.front() != '.' && key.back() != '.';
}

bool sysctl_matches(const std::string& key, const std::string& entry) {
    if (!entry.ends_with(".*")) return key == entry;
    return key.starts_with(entry.substr(0, entry.size() - 1));
}

}  // namespace

Result<> plain_path(const std::string& path) {
    const std::string slashed = path + "/";
    if (path.size() < 2 || path.size() > 1024 || path.front() != '/' || path.back() == '/' ||
        !is_plain(path) || slashed.contains("//") || slashed.contains("/./") ||
        slashed.contains("/../")) {
        return fail(Code::invalid, "the path is not a plain absolute path");
    }
    return {};
}

Result<> path_allowed(const model::AllowList& allow, std::string_view type,
                      const std::string& path) {
    if (auto plain = plain_path(path); !plain) return plain;
    const auto list = allow.directories.find(std::string(type));
    if (list != allow.directories.end()) {
        for (const std::string& allowed : list->second) {
            if (below(path, allowed)) return {};
        }
    }
    return fail(Code::denied,
                fmt::format("{} is not below a directory of allow.directories.{}", path, type));
}

Result<> access_allowed(const model::FileAccess& access, std::uint32_t most) {
    if (access.uid == 0 && (access.mode.bits & ~most) == 0) return {};
    return fail(Code::denied, fmt::format("the owner has to be root and the mode within {:04o}; "
                                          "asked for are user {} and {:04o}",
                                          most, access.uid, access.mode.bits));
}

Result<> listed(const std::vector<std::string>& list, const std::string& wanted,
                std::string_view key) {
    if (std::find(list.begin(), list.end(), wanted) != list.end()) return {};
    return fail(Code::denied, fmt::format("{} is not in allow.{}", wanted, key));
}

Result<> sysctl_allowed(const model::AllowList& allow, const std::string& key,
                        const std::string& value) {
    const auto shown = [](unsigned char c) { return c >= 0x20 && c < 0x7f; };
    if (!is_sysctl_key(key) || !std::all_of(value.begin(), value.end(), shown)) {
        return fail(Code::invalid, "the key or value is not that of a sysctl");
    }
    if (model::is_denied_sysctl(key)) {
        return fail(Code::denied, fmt::format("{} makes the kernel run programs or give up its "
                                              "protections: nobody may set it here",
                                              key));
    }
    for (const std::string& entry : allow.sysctls) {
        if (sysctl_matches(key, entry)) return {};
    }
    return fail(Code::denied, fmt::format("{} is not in allow.sysctls", key));
}

bool is_digest(const std::string& text) {
    const auto hex = [](unsigned char c) { return std::isdigit(c) != 0 || (c >= 'a' && c <= 'f'); };
    return text.size() == 64 && std::all_of(text.begin(), text.end(), hex);
}

bool is_plain(const std::string& text) { return printable(text) == text; }

}  // namespace kubexm::executor
