// Control groups of pods: slices of systemd's, and directories where kubelet or the runtime makes
// them without it.

#include <fmt/format.h>

#include "daemon/executor/steps/new_objects.hpp"
#include "daemon/executor/steps/side_effects.hpp"

namespace kubexm::executor::side_effects {

namespace {

constexpr const char* kTop = "/sys/fs/cgroup";
constexpr const char* kFind = "/usr/bin/find";

/// The groups of all pods in one hierarchy, as kubelet calls them with and without systemd.
void add_groups(Context& context, const std::string& hierarchy, Names& found) {
    for (const char* name : {"kubepods.slice", "kubepods"}) {
        const std::string group = fmt::format("{}/{}", hierarchy, name);
        auto state = inspect(context.root, group);
        // An error is a link, which has its hierarchy beside it, or a file.
        if (state && state->kind == PathKind::directory) found.push_back(group);
    }
}

/// In the one hierarchy of cgroup v2, and in each of v1: there are some that systemd does not tend.
Result<Names> directories(Context& context) {
    auto hierarchies = list_directory(context.root, kTop, kMostNames);
    if (!hierarchies && hierarchies.error().code == Code::not_found) return Names{};
    if (!hierarchies) return hierarchies;
    Names found;
    add_groups(context, kTop, found);
    for (const std::string& name : *hierarchies) {
        add_groups(context, fmt::format("{}/{}", kTop, name), found);
    }
    return found;
}

Result<Names> slices(Context& context) {
    return context.systemd.active_names("kubepods*.slice", context.deadline);
}

/// PID 1 runs the command: to us the control groups are read-only.
Result<std::string> remove_directories(Context& context, const Names& going) {
    if (going.empty()) return std::string();
    Names argv{kFind};
    argv.insert(argv.end(), going.begin(), going.end());
    argv.insert(argv.end(), {"-depth", "-type", "d", "-delete"});
    auto code = context.systemd.run(
        {"kubexm-groups.service", "kubexm: remove control groups of pods", argv}, context.deadline);
    if (!code) return std::unexpected(code.error());
    if (*code == 0) return std::string();
    return std::string("control groups stay: see journalctl -u kubexm-groups.service");
}

}  // namespace

Result<Names> groups(Context& context) {
    auto names = slices(context);
    if (!names) return names;
    auto more = directories(context);
    if (!more) return more;
    names->insert(names->end(), more->begin(), more->end());
    return names;
}

Result<std::string> remove_groups(Context& context, const Names& before) {
    auto now = slices(context);
    if (!now) return std::unexpected(now.error());
    for (const std::string& slice : new_objects::slices(*now, before)) {
        auto done = context.systemd.stop(slice, context.deadline);
        if (!done && done.error().code != Code::not_found) return std::unexpected(done.error());
    }
    auto left = directories(context);
    if (!left) return std::unexpected(left.error());
    return remove_directories(context, new_objects::newer(*left, before));
}

}  // namespace kubexm::executor::side_effects
