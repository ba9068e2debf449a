// Files that a pod network puts onto the host, in directories that others use as well.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "daemon/base/try.hpp"
#include "daemon/executor/steps/families.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/new_objects.hpp"
#include "daemon/executor/steps/side_effects.hpp"

namespace kubexm::executor::side_effects {

namespace {

/// New entries of these directories are named where no family has them.
constexpr std::array kNamed{"/etc/cni/net.d", "/opt/cni/bin"};

/// Directories that pod networks make and others use as well: they go if they are new and empty.
constexpr std::array kParents{"/etc/cni/net.d",
                              "/etc/cni",
                              "/opt/cni/bin",
                              "/opt/cni",
                              "/run/cni",
                              "/var/lib/cni/networks",
                              "/var/lib/cni/results",
                              "/var/lib/cni"};

/// The target of a link is not ours.
Result<PathKind> kind_at(Context& context, const std::string& path) {
    const auto state = kinds::state_at(context, path);
    if (!state && state.error().code == Code::denied) return PathKind::absent;
    return TRY(state).kind;
}

Result<ObjectNames> paths_in(Context& context, const std::string& directory) {
    const auto kind = TRY(kind_at(context, directory));
    if (kind != PathKind::directory) return ObjectNames();
    auto names = TRY(kinds::entries_in(context, directory, kMostNames));
    for (std::string& name : names) name = fmt::format("{}/{}", directory, name);
    return names;
}

Result<ObjectNames> paths_of(Context& context, const std::string& pattern) {
    if (!pattern.ends_with('*')) {
        const auto kind = TRY(kind_at(context, pattern));
        return kind == PathKind::absent ? ObjectNames() : ObjectNames{pattern};
    }
    auto paths = TRY(paths_in(context, pattern.substr(0, pattern.rfind('/'))));
    std::erase_if(paths, [&](const std::string& path) { return !families::has({pattern}, path); });
    return paths;
}

Result<ObjectNames> present(Context& context, const families::Patterns& known) {
    ObjectNames patterns = known.paths;
    patterns.insert(patterns.end(), kParents.begin(), kParents.end());
    for (const char* directory : kNamed) patterns.push_back(fmt::format("{}/*", directory));
    ObjectNames found;
    for (const std::string& pattern : patterns) {
        const ObjectNames some = TRY(paths_of(context, pattern));
        found.insert(found.end(), some.begin(), some.end());
    }
    std::ranges::sort(found);
    found.erase(std::ranges::unique(found).begin(), found.end());
    return found;
}

/// A package of the reference plugins has some names of a project as well.
bool is_without_companion(const families::Patterns& known, const ObjectNames& going,
                          const std::string& path) {
    const auto found = known.companions.find(path);
    if (found == known.companions.end()) return false;
    return std::ranges::none_of(found->second, [&](const std::string& companion) {
        return std::ranges::find(going, companion) != going.end();
    });
}

new_objects::Division divided(const ObjectNames& now, const ObjectNames& before,
                              const families::Patterns& known) {
    auto all = new_objects::divide(now, before, known.paths);
    const ObjectNames candidates = all.going;
    const auto of_others = std::ranges::stable_partition(all.going, [&](const std::string& path) {
        return !families::has(known.others, path) && !is_without_companion(known, candidates, path);
    });
    all.staying.insert(all.staying.end(), of_others.begin(), of_others.end());
    all.going.erase(of_others.begin(), of_others.end());
    std::erase_if(all.staying, [](const std::string& path) {
        return std::ranges::find(kParents, path) != kParents.end();
    });
    return all;
}

/// Those of families only: a mount of other software below a path keeps the path.
Result<> unmount(Context& context, const families::Patterns& known, const ObjectNames& going) {
    for (const std::string& path : going) {
        auto mounts = TRY(context.systemd.active_units("mount", path, context.deadline));
        std::erase_if(mounts, [&](const Systemd::PathUnit& mount) {
            return !families::has(known.mounts, mount.path);
        });
        TRY(kinds::stop_all(context, mounts));
    }
    return {};
}

Result<> remove(Context& context, const std::string& path) {
    auto done = remove_path(context.root, path);
    if (done || done.error().code != Code::conflict) return done;
    return kinds::delete_all_below(context, path);
}

/// Inner ones first. One that is not empty holds the objects that stay, which are named.
Result<> remove_parents(Context& context, const ObjectNames& before) {
    for (const char* path : kParents) {
        if (std::ranges::find(before, path) != before.end()) continue;
        const auto kind = TRY(kind_at(context, path));
        if (kind != PathKind::directory) continue;
        auto done = remove_path(context.root, path);
        if (!done && done.error().code != Code::conflict) return done;
    }
    return {};
}

}  // namespace

Result<ObjectNames> network_files(Context& context) {
    const auto known = TRY(families::known());
    return present(context, known);
}

Result<std::string> remove_network_files(Context& context, const ObjectNames& before) {
    const auto known = TRY(families::known());
    auto [going, staying] = divided(TRY(present(context, known)), before, known);
    TRY(unmount(context, known, going));
    for (const std::string& path : going) {
        auto done = remove(context, path);
        if (!done && done.error().code != Code::denied) return std::unexpected(done.error());
        if (!done) staying.push_back(path);  // a mount or an immutable file is in it
    }
    TRY(remove_parents(context, before));
    return new_objects::not_ours(staying);
}

}  // namespace kubexm::executor::side_effects
