#include "daemon/executor/engine/repair.hpp"

#include <algorithm>
#include <set>

#include "daemon/base/overloaded.hpp"
#include "daemon/executor/steps/restart_key.hpp"

namespace kubexm::executor {

namespace {

constexpr const char* kKubelet = "kubelet.service";
constexpr const char* kContainerd = "containerd.service";

std::optional<std::string> reader_of_document(const model::Document& document) {
    using Reader = std::optional<std::string>;
    return std::visit(
        overloaded{
            [](const model::KubeletService&) -> Reader { return kKubelet; },
            [](const model::KubeletConfiguration&) -> Reader { return kKubelet; },
            [](const model::Kubeconfig& file) -> Reader {
                return file.user == model::KubeconfigUser::kubelet ? kKubelet
                                                                   : "kube-proxy.service";
            },
            [](const model::ContainerdConfiguration&) -> Reader { return kContainerd; },
            [](const model::ProxyDropIn& file) -> Reader {
                return file.service == model::ManagedService::kubelet ? kKubelet : kContainerd;
            },
            // containerd reads both while it runs: at every pull, and by inotify.
            [](const OneOf<model::RegistryHosts, model::CniConfiguration> auto&) -> Reader {
                return std::nullopt;
            },
            [](const OneOf<model::SysctlFile, model::ModulesFile> auto&) -> Reader {
                return std::nullopt;
            },
        },
        document);
}

/// One step, so that the unit is as applied or as found where it fails.
model::UnitState repaired(model::UnitState unit, bool restart, const std::string& plan_id) {
    if (!unit.masked) unit.masked = false;
    if (restart) unit.restart_key = restart_key_for(unit.restart_key, plan_id);
    return unit;
}

/// For units whose files differ. A unit with a step of its own is loaded again by that step, which
/// also unmasks it: before that, systemd would not take its files for loaded.
void add_reloads(const std::vector<AppliedStep>& applied, const std::set<std::string>& outdated,
                 const std::set<std::string>& started, std::vector<model::Step>& steps) {
    const auto needs_it = [&](const std::string& unit) {
        return outdated.contains(unit) && !started.contains(unit);
    };
    for (const auto& [step, differs] : applied) {
        const auto* reload = std::get_if<model::DaemonReload>(&step);
        if (reload != nullptr && std::ranges::any_of(reload->units, needs_it)) {
            steps.push_back(step);
        }
    }
}

}  // namespace

std::optional<std::string> reader_of(const model::Step& step) {
    const auto* file = std::get_if<model::RenderedFile>(&step);
    return file == nullptr ? std::nullopt : reader_of_document(file->document);
}

std::vector<model::Step> repair_steps(const std::vector<AppliedStep>& applied,
                                      const std::string& plan_id) {
    std::vector<model::Step> steps;
    std::set<std::string> outdated;  // units
    for (const auto& [step, differs] : applied) {
        if (!differs || std::holds_alternative<model::UnitState>(step)) continue;
        steps.push_back(step);
        if (const auto reader = reader_of(step)) outdated.insert(*reader);
    }
    std::vector<model::Step> units;
    std::set<std::string> started;
    for (const auto& [step, differs] : applied) {
        const auto* unit = std::get_if<model::UnitState>(&step);
        if (unit == nullptr) continue;
        const bool restart = unit->active == true && outdated.contains(unit->name);
        if (!differs && !restart) continue;
        units.emplace_back(repaired(*unit, restart, plan_id));
        started.insert(unit->name);
    }
    add_reloads(applied, outdated, started, steps);
    steps.insert(steps.end(), units.begin(), units.end());
    return steps;
}

}  // namespace kubexm::executor
