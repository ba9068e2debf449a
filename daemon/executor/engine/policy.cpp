#include "daemon/executor/engine/policy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/overloaded.hpp"
#include "daemon/base/text.hpp"
#include "daemon/executor/engine/rules.hpp"
#include "daemon/executor/render/render.hpp"

namespace kubexm::executor {

namespace {

using model::AllowList;

Result<> unit_allowed(const AllowList& allow, const std::string& unit) {
    return listed(allow.units, unit, "units");
}

Result<> all_units_allowed(const AllowList& allow, const std::vector<std::string>& units) {
    for (const std::string& unit : units) {
        if (auto good = unit_allowed(allow, unit); !good) return good;
    }
    return {};
}

/// Rendering is pure and validates every parameter: what cannot be rendered is refused before the
/// steps in front of it have changed anything.
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
    auto rendered = render(document);
    if (!rendered) return std::unexpected(rendered.error());
    return {};
}

Result<> directory_allowed(const AllowList& allow, const model::Directory& step) {
    if (auto good = access_allowed(step.access, kMostOfDirectory); !good) return good;
    return path_allowed(allow, step.kType, step.path);
}

/// Where a link leads is looked at as well: programs of root follow it and write there.
Result<> link_allowed(const AllowList& allow, const model::Symlink& step) {
    if (auto good = path_allowed(allow, step.kType, step.path); !good) return good;
    const std::string directory = step.path.substr(0, step.path.rfind('/') + 1);
    const bool absolute = step.target.starts_with('/');
    return path_allowed(allow, step.kType, absolute ? step.target : directory + step.target);
}

Result<> block_allowed(const AllowList& allow, const model::ManagedBlock& step) {
    // A mark of ours inside the block would end it early, and undo would leave the rest behind.
    const auto one_line = [](const std::string& text) {
        return text.find_first_of("\n\r") == std::string::npos && !text.starts_with("# kubexm ");
    };
    if (!is_plain(step.name) || !std::all_of(step.lines.begin(), step.lines.end(), one_line)) {
        return fail(Code::invalid,
                    "the name or a line of the block is more than one line, or "
                    "looks like the end of a block");
    }
    return path_allowed(allow, step.kType, step.path);
}

/// A name for a unit that nobody else has: not one of our own, and no instance of a template.
bool is_transient_name(std::string_view name) {
    const auto plain = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    };
    return name.starts_with("kubexm-") && name.ends_with(".service") &&
           name != "kubexm-executor.service" && name.size() <= 128 &&
           std::all_of(name.begin(), name.end(), plain);
}

Result<> command_allowed(const AllowList& allow, const model::TransientUnit& step) {
    if (!is_transient_name(step.name)) {
        return fail(Code::denied, fmt::format("{} is not named kubexm-*.service in plain letters, "
                                              "or is a unit of ours",
                                              step.name));
    }
    if (step.argv.empty()) return fail(Code::invalid, "there is no command");
    return listed(allow.executables, step.argv.front(), "executables");
}

template <typename File>
Result<> content_allowed(const AllowList& allow, const File& step) {
    if (!is_digest(step.digest)) return fail(Code::invalid, "the digest is not a SHA-256");
    if (auto good = access_allowed(step.access, kMostOfFile); !good) return good;
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
            [&](const DataFile& s) { return content_allowed(allow, s); },
            [&](const SecretFile& s) { return content_allowed(allow, s); },
            [&](const Directory& s) { return directory_allowed(allow, s); },
            [&](const Symlink& s) { return link_allowed(allow, s); },
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
            [](const SideEffects&) { return Result<>{}; },
        },
        step);
}

}  // namespace

Result<> permitted(const model::Plan& plan, const AllowList& allow) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        if (auto good = step_permitted(plan.steps[i], allow); !good) {
            return during(fmt::format("step {} ({})", i, printable(model::text_of(plan.steps[i]))),
                          good.error());
        }
    }
    return {};
}

}  // namespace kubexm::executor
