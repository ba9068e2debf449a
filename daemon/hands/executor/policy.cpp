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

/// What is made belongs to root and nobody else may write it: a plan must not be able to give a
/// directory that root obeys to whoever sent the plan.
Result<> access_allowed(const model::Access& access, std::uint32_t never) {
    if (access.uid == 0 && (access.mode.bits & (07022U | never)) == 0) return {};
    return fail(Code::denied,
                fmt::format("owner {} and mode {:04o}; expected root, no special bits, and that "
                            "nobody else may write",
                            access.uid, access.mode.bits));
}

Result<> file_allowed(const AllowList& allow, const auto& step) {
    constexpr std::uint32_t kExecute = 0111;  // content from outside is never a program
    if (!is_digest(step.digest)) return fail(Code::invalid, "the digest is not a SHA-256");
    if (auto good = access_allowed(step.access, kExecute); !good) return good;
    return path_allowed(allow, step.kType, step.path);
}

Result<> directory_allowed(const AllowList& allow, const model::Directory& step) {
    if (auto good = access_allowed(step.access, 0); !good) return good;
    return path_allowed(allow, step.kType, step.path);
}

/// One name in a directory: no way out, nothing hidden, and not the link beside the versions.
bool is_version(const std::string& text) {
    const auto plain = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '+' || c == '_';
    };
    return !text.empty() && text.size() <= 64 && text.front() != '.' && text != "current" &&
           std::all_of(text.begin(), text.end(), plain);
}

Result<> trusted(const AllowList& allow, const model::ComponentVersion& step,
                 const model::ComponentFile& file) {
    if (auto plain = plain_path("/" + file.path); !plain) return plain;
    if ((file.mode.bits & ~0755U) != 0) {
        return fail(Code::denied, fmt::format("mode {:04o} of {}; expected no more than 0755",
                                              file.mode.bits, file.path));
    }
    const std::string name = fmt::format("{}/{}/{}", step.component, step.version, file.path);
    const auto entry = allow.digests.find(name);
    if (entry != allow.digests.end() && entry->second == file.digest) return {};
    return fail(Code::denied, fmt::format("root's list of trusted digests has no line \"{}  {}\"",
                                          file.digest, name));
}

Result<> component_allowed(const AllowList& allow, const model::ComponentVersion& step) {
    if (auto good = listed(allow.components, step.component, "components"); !good) return good;
    if (!is_version(step.version)) return fail(Code::invalid, "the version is not a plain name");
    if (step.files.empty()) return fail(Code::invalid, "the component has no files");
    for (const model::ComponentFile& file : step.files) {
        if (auto good = trusted(allow, step, file); !good) return good;
    }
    return {};
}

Result<> step_permitted(const model::Step& step, const AllowList& allow) {
    using namespace model;
    return std::visit(
        overloaded{
            [&](const RenderedFile& s) { return document_allowed(allow, s.document); },
            [&](const DataFile& s) { return file_allowed(allow, s); },
            [&](const SecretFile& s) { return file_allowed(allow, s); },
            [&](const Directory& s) { return directory_allowed(allow, s); },
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
            [&](const ComponentVersion& s) { return component_allowed(allow, s); },
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
