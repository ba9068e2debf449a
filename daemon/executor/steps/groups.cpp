// Control groups of pods: slices of systemd, and directories that kubelet or the runtime makes.

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <ranges>

#include "daemon/base/try.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/new_objects.hpp"
#include "daemon/executor/steps/side_effects.hpp"

namespace kubexm::executor::side_effects {

namespace {

constexpr const char* kTop = "/sys/fs/cgroup";
constexpr const char* kFind = "/usr/bin/find";
constexpr const char* kScope = "kubexm-pods.scope";
constexpr int kMostRounds = 3;  // processes may fork or end while they are moved
constexpr std::size_t kMostProcessBytes = std::size_t{1} << 20U;

/// The parents of all pods' groups in one hierarchy: as the systemd and the cgroupfs driver name
/// them.
void add_groups(Context& context, const std::string& hierarchy, ObjectNames& found) {
    for (const char* name : {"kubepods.slice", "kubepods"}) {
        const std::string group = fmt::format("{}/{}", hierarchy, name);
        auto state = inspect(context.root, group);
        // An error: `hierarchy` is a link to another hierarchy, or a file.
        if (state && state->kind == PathKind::directory) found.push_back(group);
    }
}

/// In the one hierarchy of cgroup v2 and in each of v1, some of which systemd does not manage.
Result<ObjectNames> directories(Context& context) {
    const auto hierarchies = TRY(kinds::entries_in(context, kTop, kMostNames));
    ObjectNames found;
    add_groups(context, kTop, found);
    for (const std::string& name : hierarchies) {
        add_groups(context, fmt::format("{}/{}", kTop, name), found);
    }
    return found;
}

Result<ObjectNames> slices(Context& context) {
    return context.systemd.active_names("kubepods*.slice", context.deadline);
}

using Processes = std::vector<std::uint32_t>;

/// The processes of a group and of all below it. A group that vanishes meanwhile has none.
void add_processes(Context& context, const std::string& group, Processes& found) {
    const std::string listed =
        read_file(context.root, group + "/cgroup.procs", kMostProcessBytes).value_or("");
    for (const auto line : std::views::split(listed, '\n')) {
        std::uint32_t process = 0;
        std::from_chars(line.data(), line.data() + line.size(), process);
        if (process != 0) found.push_back(process);
    }
    const auto names = kinds::entries_in(context, group, kMostNames).value_or(ObjectNames{});
    for (const std::string& name : names) {
        const std::string path = fmt::format("{}/{}", group, name);
        const auto state = inspect(context.root, path);
        if (state && state->kind == PathKind::directory) add_processes(context, path, found);
    }
}

Processes processes_in(Context& context, const ObjectNames& groups) {
    Processes found;
    for (const std::string& group : groups) add_processes(context, group, found);
    return found;
}

/// Of pods that the runtime did not end. systemd knows no slice of theirs where kubelet makes the
/// groups itself, so it gets a scope: SIGTERM, and after a while SIGKILL. An interrupted undo may
/// have left the scope.
Result<> end_processes(Context& context, const ObjectNames& groups) {
    Result<> moved;
    for (int round = 0; round < kMostRounds; ++round) {
        auto stopped = context.systemd.stop(kScope, context.deadline);
        if (!stopped && stopped.error().code != Code::not_found) return stopped;
        const Processes left = processes_in(context, groups);
        if (left.empty()) return {};
        moved = context.systemd.start_scope(kScope, left, context.deadline);
    }
    TRY(moved);
    return context.systemd.stop(kScope, context.deadline);
}

/// PID 1 runs the command: the executor sees the control groups read-only.
Result<std::string> remove_directories(Context& context, const ObjectNames& going) {
    if (going.empty()) return std::string();
    TRY(end_processes(context, going));
    std::vector<std::string> argv{kFind};
    argv.insert(argv.end(), going.begin(), going.end());
    argv.insert(argv.end(), {"-depth", "-type", "d", "-delete"});
    const auto code = TRY(context.systemd.run(
        {"kubexm-groups.service", "kubexm: remove control groups of pods", argv},
        context.deadline));
    if (code == 0) return std::string();
    return std::string("control groups stay: see journalctl -u kubexm-groups.service");
}

}  // namespace

Result<ObjectNames> groups(Context& context) {
    ObjectNames names = TRY(slices(context));
    const ObjectNames more = TRY(directories(context));
    names.insert(names.end(), more.begin(), more.end());
    return names;
}

Result<std::string> remove_groups(Context& context, const ObjectNames& before) {
    const ObjectNames now = TRY(slices(context));
    for (const std::string& slice : new_objects::slices(now, before)) {
        auto done = context.systemd.stop(slice, context.deadline);
        if (!done && done.error().code != Code::not_found) return std::unexpected(done.error());
    }
    const ObjectNames left = TRY(directories(context));
    return remove_directories(context, new_objects::newer(left, before));
}

}  // namespace kubexm::executor::side_effects
