// Lists of units, above all of those that stand for what the kernel has at a path: mounts and
// swaps.

#include <fmt/format.h>

#include <algorithm>
#include <functional>

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

struct Listed {
    std::string unit;
    std::string object;
};

/// The units of an answer to ListUnits, without other names of one that is listed anyway.
Result<std::vector<Listed>> read_listed(const bus::Message& answer) {
    constexpr const char* kUnit = "(ssssssouso)";
    std::vector<Listed> listed;
    const char *name = nullptr, *following = nullptr, *object = nullptr;
    int got = sd_bus_message_enter_container(answer.get(), 'a', kUnit);
    while (got >= 0 && (got = sd_bus_message_read(answer.get(), kUnit, &name, nullptr, nullptr,
                                                  nullptr, nullptr, &following, &object, nullptr,
                                                  nullptr, nullptr)) > 0) {
        if (std::string_view(following).empty()) listed.push_back({name, object});
    }
    if (got < 0) return bus::not_as_expected(answer.get(), "a(ssssssouso)");
    return listed;
}

Result<std::vector<Listed>> list_active(Manager& manager, const std::string& pattern,
                                        bus::Deadline deadline) {
    // Also what is on its way in or out: it is not gone yet.
    auto request = manager.request("ListUnitsByPatterns");
    request.add_strings({"active", "reloading", "activating", "deactivating"})
        .add_strings({pattern});
    auto answer = manager.ask(request, deadline);
    if (!answer) return std::unexpected(answer.error());
    return read_listed(*answer);
}

/// Strictly below: what is mounted at the path itself is where the path's owner put it.
bool is_below(const std::string& path, const std::string& directory) {
    if (directory.empty()) return true;
    const std::string prefix = directory.ends_with('/') ? directory : directory + "/";
    return path.starts_with(prefix) && path.size() > prefix.size();
}

auto depth(const Systemd::PathUnit& unit) { return std::ranges::count(unit.path, '/'); }

Result<std::vector<Systemd::PathUnit>> find_below(Manager& manager, const std::string& type,
                                                  const std::string& below,
                                                  bus::Deadline deadline) {
    auto path = path_of_type(type);
    if (!path) return std::unexpected(path.error());
    auto listed = list_active(manager, "*." + type, deadline);
    if (!listed) return std::unexpected(listed.error());
    std::vector<Systemd::PathUnit> found;
    for (const auto& [unit, object] : *listed) {
        // The name only spares the question: it is a hash where the path is long.
        if (!may_name_a_path_below(unit, below)) continue;
        auto properties = properties_of_object(manager, object, deadline);
        if (!properties) return std::unexpected(properties.error());
        const std::string& where = (*properties).*(*path);
        if (is_below(where, below)) found.push_back({unit, where, properties->priority});
    }
    return found;
}

}  // namespace

Result<std::vector<Systemd::PathUnit>> Systemd::active_units(const std::string& type,
                                                             const std::string& below,
                                                             Deadline deadline) {
    auto systemd = impl_->connect(deadline);
    if (!systemd) return std::unexpected(systemd.error());
    auto found = find_below(**systemd, type, below, deadline);
    if (!found) return during(fmt::format("listing {} units", type), found.error());
    std::ranges::stable_sort(*found, std::greater(), depth);
    return found;
}

Result<std::vector<std::string>> Systemd::active_names(const std::string& pattern,
                                                       Deadline deadline) {
    auto systemd = impl_->connect(deadline);
    if (!systemd) return std::unexpected(systemd.error());
    auto listed = list_active(**systemd, pattern, deadline);
    if (!listed) return during("listing units " + pattern, listed.error());
    std::vector<std::string> names;
    for (const Listed& each : *listed) names.push_back(each.unit);
    return names;
}

}  // namespace kubexm::executor
