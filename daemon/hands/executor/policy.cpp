#include "daemon/hands/executor/policy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/overloaded.hpp"

namespace kubexm::hands {

namespace {

using model::AllowList;

/// Absolute, in its shortest spelling, without characters that would fool a person or a line-wise
/// file.
Result<> plain_path(const std::string& path) {
    const bool control = std::any_of(path.begin(), path.end(),
                                     [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    const std::string slashed = path + "/";
    if (path.size() < 2 || path.size() > 1024 || path.front() != '/' || path.back() == '/' ||
        control || slashed.contains("//") || slashed.contains("/./") || slashed.contains("/../")) {
        return fail(Code::invalid, "the path is not a plain absolute path");
    }
    return {};
}

/// The directory itself is nobody's to replace or delete, only what is below it; an entry that
/// names a file allows just that file.
bool below(const std::string& path, const std::string& allowed) {
    return path == allowed || path.starts_with(allowed + "/");
}

Result<> path_allowed(const AllowList& allow, std::string_view type, const std::string& path) {
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

Result<> listed(const std::vector<std::string>& list, const std::string& wanted,
                std::string_view key) {
    if (std::find(list.begin(), list.end(), wanted) != list.end()) return {};
    return fail(Code::denied, fmt::format("{} is not in allow.{}", wanted, key));
}

Result<> unit_allowed(const AllowList& allow, const std::string& unit) {
    return listed(allow.units, unit, "units");
}

bool sysctl_matches(const std::string& key, const std::string& entry) {
    if (!entry.ends_with(".*")) return key == entry;
    return key.starts_with(entry.substr(0, entry.size() - 1));
}

Result<> sysctl_allowed(const AllowList& allow, const std::string& key, const std::string& value) {
    const auto plain = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
    };
    const auto printable = [](unsigned char c) { return c >= 0x20 && c < 0x7f; };
    if (key.empty() || !std::all_of(key.begin(), key.end(), plain) || key.contains("..") ||
        key.front() == '.' || key.back() == '.' ||
        !std::all_of(value.begin(), value.end(), printable)) {
        return fail(Code::invalid, "the key or value is not that of a sysctl");
    }
    for (const std::string& entry : allow.sysctls) {
        if (sysctl_matches(key, entry)) return {};
    }
    return fail(Code::denied, fmt::format("{} is not in allow.sysctls", key));
}

Result<> all_units_allowed(const AllowList& allow, const std::vector<std::string>& units) {
    for (const std::string& unit : units) {
        if (auto good = unit_allowed(allow, unit); !good) return good;
    }
    return {};
}

Result<> document_allowed(const AllowList& allow, const model::Document& document) {
    if (const auto* file = std::get_if<model::SysctlFile>(&document)) {
        for (const model::Pair& pair : file->values) {
            if (auto good = sysctl_allowed(allow, pair.key, pair.value); !good) return good;
        }
    }
    if (const auto* file = std::get_if<model::ModulesFile>(&document)) {
        for (const std::string& name : file->modules) {
            if (auto good = listed(allow.modules, name, "modules"); !good) return good;
        }
    }
    return {};
}

Result<> block_allowed(const AllowList& allow, const model::ManagedBlock& step) {
    const auto one_line = [](const std::string& text) {
        return text.find_first_of("\n\r") == std::string::npos;
    };
    if (!one_line(step.name) || !std::all_of(step.lines.begin(), step.lines.end(), one_line)) {
        return fail(Code::invalid, "a line of the block is more than one line");
    }
    return path_allowed(allow, step.kType, step.path);
}

Result<> command_allowed(const AllowList& allow, const model::TransientUnit& step) {
    constexpr std::string_view kPrefix = "kubexm-";
    if (!step.name.starts_with(kPrefix) || !step.name.ends_with(".service")) {
        return fail(Code::denied, fmt::format("{} is not named kubexm-*.service", step.name));
    }
    if (step.argv.empty()) return fail(Code::invalid, "there is no command");
    return listed(allow.executables, step.argv.front(), "executables");
}

bool is_digest(const std::string& text) {
    const auto hex = [](unsigned char c) { return std::isdigit(c) != 0 || (c >= 'a' && c <= 'f'); };
    return text.size() == 64 && std::all_of(text.begin(), text.end(), hex);
}

Result<> content_allowed(const AllowList& allow, std::string_view type, const std::string& path,
                         const std::string& digest) {
    if (!is_digest(digest)) return fail(Code::invalid, "the digest is not a SHA-256");
    return path_allowed(allow, type, path);
}

Result<> step_permitted(const model::Step& step, const AllowList& allow) {
    using namespace model;
    return std::visit(
        overloaded{
            [&](const RenderedFile& s) { return document_allowed(allow, s.document); },
            [&](const DataFile& s) { return content_allowed(allow, s.kType, s.path, s.digest); },
            [&](const SecretFile& s) { return content_allowed(allow, s.kType, s.path, s.digest); },
            [&](const Directory& s) { return path_allowed(allow, s.kType, s.path); },
            [&](const Symlink& s) { return path_allowed(allow, s.kType, s.path); },
            [&](const ManagedBlock& s) { return block_allowed(allow, s); },
            [&](const AbsentPath& s) { return path_allowed(allow, s.kType, s.path); },
            [&](const DeletedTree& s) { return path_allowed(allow, s.kType, s.path); },
            [&](const Sysctl& s) { return sysctl_allowed(allow, s.key, s.value); },
            [&](const KernelModule& s) { return listed(allow.modules, s.name, "modules"); },
            [](const SwapOff&) { return Result<>{}; },
            [&](const Unmounted& s) { return path_allowed(allow, s.kType, s.below); },
            [&](const UnitState& s) { return unit_allowed(allow, s.name); },
            [&](const DaemonReload& s) { return all_units_allowed(allow, s.units); },
            [&](const TransientUnit& s) { return command_allowed(allow, s); },
            [&](const Claim& s) { return path_allowed(allow, s.kType, s.path); },
        },
        step);
}

}  // namespace

Result<> permitted(const model::Plan& plan, const AllowList& allow) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        if (auto good = step_permitted(plan.steps[i], allow); !good) {
            return during(fmt::format("step {} ({})", i, model::text_of(plan.steps[i])),
                          good.error());
        }
    }
    return {};
}

}  // namespace kubexm::hands
