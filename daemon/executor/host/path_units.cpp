// Lists of active units, above all of mounts and swaps.

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/systemd_impl.hpp"
#include "daemon/executor/host/unit_name.hpp"
#include "daemon/executor/host/unit_properties.hpp"

namespace kubexm::executor {

namespace {

struct PathType {
    std::string_view name;
    std::string UnitProperties::* path;
};

constexpr PathType kPathTypes[] = {
    {"mount", &UnitProperties::where},
    {"swap", &UnitProperties::what},
};

Result<std::string UnitProperties::*> path_of_type(const std::string& type) {
    const auto* found = std::ranges::find(kPathTypes, type, &PathType::name);
    if (found != std::end(kPathTypes)) return found->path;
    return fail(Code::invalid, fmt::format("unit type \"{}\": expected mount or swap", type));
}

/// The units of a reply to ListUnits, without aliases of listed units.
Result<std::vector<ActiveUnit>> read_listed(const bus::Message& reply) {
    constexpr const char* kUnit = "(ssssssouso)";
    std::vector<ActiveUnit> listed;
    const char *name = nullptr, *following = nullptr, *object = nullptr;
    int got = sd_bus_message_enter_container(reply.get(), 'a', kUnit);
    while (got >= 0 &&
           (got = sd_bus_message_read(reply.get(), kUnit, &name, nullptr, nullptr, nullptr, nullptr,
                                      &following, &object, nullptr, nullptr, nullptr)) > 0) {
        if (std::string_view(following).empty()) listed.push_back({name, object});
    }
    if (got < 0) return bus::unexpected_types(reply.get(), "a(ssssssouso)");
    return listed;
}

/// Strictly below: a mount at the directory itself is not ours.
bool is_below(const std::string& path, const std::string& directory) {
    if (directory.empty()) return true;
    const std::string prefix = directory.ends_with('/') ? directory : directory + "/";
    return path.starts_with(prefix) && path.size() > prefix.size();
}

auto depth(const Systemd::PathUnit& unit) { return std::ranges::count(unit.path, '/'); }

Result<std::vector<Systemd::PathUnit>> find_below(Manager& manager, const std::string& type,
                                                  const std::string& below, Deadline deadline) {
    const auto path = TRY(path_of_type(type));
    const auto listed = TRY(list_active(manager, "*." + type, deadline));
    std::vector<Systemd::PathUnit> found;
    for (const auto& [unit, object] : listed) {
        // Saves a call. The name of a long path is a hash, so the path decides.
        if (!may_name_a_path_below(unit, below)) continue;
        const auto properties = TRY(properties_of_object(manager, object, deadline));
        const std::string& where = properties.*path;
        if (is_below(where, below)) {
            found.push_back({unit, where, properties.priority, properties.fragment});
        }
    }
    return found;
}

bool may_be_below(const std::vector<ActiveUnit>& units, const std::string& path) {
    return std::ranges::any_of(
        units, [&](const ActiveUnit& each) { return may_name_a_path_below(each.unit, path); });
}

}  // namespace

Result<std::vector<ActiveUnit>> list_active(Manager& manager, const std::string& pattern,
                                            Deadline deadline) {
    // Units that are starting or stopping are not gone yet.
    auto request = manager.request("ListUnitsByPatterns");
    request.add_strings({"active", "reloading", "activating", "deactivating"})
        .add_strings({pattern});
    const auto reply = TRY(manager.ask(request, deadline));
    return read_listed(reply);
}

Result<std::vector<Systemd::PathUnit>> Systemd::active_units(const std::string& type,
                                                             const std::string& below,
                                                             Deadline deadline) {
    Manager* systemd = TRY(impl_->connect(deadline));
    const auto& reloading = impl_->reloading;
    if (reloading && type == "mount" && !may_be_below(reloading->mounts, below)) return {};
    auto found = find_below(*systemd, type, below, deadline);
    if (!found) return during(fmt::format("listing {} units", type), found.error());
    std::ranges::stable_sort(*found, std::greater(), depth);
    return found;
}

Result<std::vector<std::string>> Systemd::active_names(const std::string& pattern,
                                                       Deadline deadline) {
    Manager* systemd = TRY(impl_->connect(deadline));
    auto listed = list_active(*systemd, pattern, deadline);
    if (!listed) return during("listing units " + pattern, listed.error());
    std::vector<std::string> names;
    for (const ActiveUnit& each : *listed) names.push_back(each.unit);
    return names;
}

}  // namespace kubexm::executor
