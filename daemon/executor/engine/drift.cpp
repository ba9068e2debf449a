#include "daemon/executor/engine/drift.hpp"

#include <fmt/format.h>

#include "daemon/base/overloaded.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/kernel.hpp"
#include "daemon/executor/host/unit_status.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {

namespace {

using model::DriftCheck;

template <typename T, model::DriftCheck kind>
concept Compared = T::kTraits.drift == kind;

std::string home_of(const model::ComponentVersion& step) {
    return fmt::format("{}/{}", model::kComponents, step.component);
}

std::string_view word_for(PathKind kind) {
    switch (kind) {
        case PathKind::absent:
            return kAbsent;
        case PathKind::file:
            return "another file";
        case PathKind::directory:
            return "a directory with other attributes";
        case PathKind::symlink:
            return "a symbolic link";
        case PathKind::other:
            break;
    }
    return "neither file, directory nor link";
}

/// An error that says nothing about the object.
bool may_pass(Code code) {
    return code == Code::unavailable || code == Code::timeout || code == Code::exhausted;
}

Result<std::string> path_difference(Context& context, const model::Step& step,
                                    const std::string& path) {
    auto same = holds(context, step);
    if (!same && may_pass(same.error().code)) return std::unexpected(same.error());
    if (!same) return same.error().what;  // such as a link on the way
    if (*same) return "";
    const auto now = inspect(context.root, path);
    return std::string(now ? word_for(now->kind) : kAbsent);
}

/// A unit that starts, also again and again, or stops is on its way; a signal follows.
bool is_other_activity(const std::optional<bool>& wanted, const UnitStatus& now) {
    if (!wanted) return false;
    return *wanted ? is_down(now) : is_active(now);
}

Result<std::string> unit_difference(Context& context, const model::UnitState& step) {
    const auto now = TRY(context.systemd.status(step.name, context.deadline));
    if (now.has_job) return "";
    const bool differs = is_masked(now) != step.masked.value_or(false) ||
                         is_other_activity(step.active, now) ||
                         (step.enabled && *step.enabled != is_enabled(now));
    if (!differs) return "";
    return fmt::format("{}, {}", now.active,
                       now.enablement.empty() ? "without a unit file" : now.enablement);
}

Result<std::string> sysctl_difference(Context& context, const model::Sysctl& step) {
    auto value = read_sysctl(context.root, step.key);
    if (!value && value.error().code == Code::not_found) return kAbsent;
    const std::string now = TRY(std::move(value));
    return now == step.value ? "" : now;
}

Result<std::string> file_difference(Context& context, KnownDigests& digests,
                                    const std::string& path, const model::ComponentFile& file) {
    const auto now = inspect(context.root, path);
    if (!now || now->kind == PathKind::absent) return path + " is absent";
    if (now->kind != PathKind::file) return path + " is no regular file";
    if (now->mode != file.mode.bits || now->uid != 0 || now->gid != 0) {
        return path + " has other attributes";
    }
    const auto digest =
        digests.digest_of(context.root, path, {model::kBinaries.limit, context.deadline});
    if (!digest && may_pass(digest.error().code)) return std::unexpected(digest.error());
    return digest && *digest == file.digest ? "" : path + " has other content";
}

Result<std::string> component_difference(Context& context, KnownDigests& digests,
                                         const model::ComponentVersion& step) {
    const auto link = inspect(context.root, home_of(step) + "/current");
    if (!link) return kAbsent;
    if (link->kind != PathKind::symlink) return std::string(word_for(link->kind));
    if (link->target != step.version) return "version " + link->target;
    for (const model::ComponentFile& file : step.files) {
        const std::string path = fmt::format("{}/{}/{}", home_of(step), step.version, file.path);
        std::string found = TRY(file_difference(context, digests, path, file));
        if (!found.empty()) return found;
    }
    return "";
}

}  // namespace

Result<std::string> difference(Context& context, KnownDigests& digests,
                               const model::Step& applied) {
    using Found = Result<std::string>;
    return std::visit(
        overloaded{
            [&](const Compared<DriftCheck::path> auto&) {
                return path_difference(context, applied, model::path_of(applied));
            },
            [&](const model::Sysctl& step) { return sysctl_difference(context, step); },
            [&](const model::UnitState& step) { return unit_difference(context, step); },
            [&](const model::ComponentVersion& step) {
                return component_difference(context, digests, step);
            },
            [](const Compared<DriftCheck::none> auto&) -> Found { return ""; },
        },
        applied);
}

std::vector<std::string> paths_of(const model::Step& applied) {
    using Paths = std::vector<std::string>;
    return std::visit(
        overloaded{
            [&](const Compared<DriftCheck::path> auto&) { return Paths{model::path_of(applied)}; },
            [](const model::ComponentVersion& step) {
                Paths paths{home_of(step) + "/current"};
                for (const model::ComponentFile& file : step.files) {
                    paths.push_back(
                        fmt::format("{}/{}/{}", home_of(step), step.version, file.path));
                }
                return paths;
            },
            [](const OneOf<model::Sysctl, model::UnitState> auto&) { return Paths{}; },
            [](const Compared<DriftCheck::none> auto&) { return Paths{}; },
        },
        applied);
}

}  // namespace kubexm::executor
