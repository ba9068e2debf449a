// What runs in a cluster makes besides files: noted before, so that undo knows the rest as ours.

#include <fmt/format.h>

#include <algorithm>

#include "daemon/hands/host/links.hpp"
#include "daemon/hands/host/packet_filter.hpp"
#include "daemon/hands/host/runtime.hpp"
#include "daemon/hands/steps/kinds.hpp"
#include "daemon/hands/steps/leftovers.hpp"
#include "daemon/model/names.hpp"

namespace kubexm::hands::kinds {

namespace {

using leftovers::Names;
using model::ByProduct;

constexpr std::size_t kMaxBefore = 4000;  // what the ledger takes for one image
constexpr int kRounds = 5;                // what was on its way when kubelet ended may still appear
constexpr const char* kSlices = "kubepods*.slice";
constexpr const char* kGroups = "/sys/fs/cgroup";
constexpr const char* kFind = "/usr/bin/find";
// One directory a pod, named by its id, also while containerd does not run.
constexpr const char* kPods = "/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes";

std::unexpected<Error> without_end(std::string_view what) {
    return fail(Code::conflict, fmt::format("{} appear faster than they are removed", what));
}

Result<Names> names_in(Context& context, const std::string& directory) {
    auto names = list_directory(context.root, directory, kMaxBefore);
    if (!names && names.error().code == Code::not_found) return Names{};
    return names;
}

// --- pods

/// A pod that is there is not ours because its runtime happens not to run.
Result<Names> pods_before(Context& context) {
    auto pods = list_pods(context.deadline);
    if (pods || pods.error().code != Code::not_found) return pods;
    return names_in(context, kPods);
}

/// A host whose runtime is stopped is given back all the same.
Result<std::string> pods_that_stay(Context& context, const Names& before) {
    auto recorded = names_in(context, kPods);
    if (!recorded) return std::unexpected(recorded.error());
    const Names staying = leftovers::newer(*recorded, before);
    if (staying.empty()) return std::string();
    return fmt::format("containerd does not answer: {} of its pods stay in its records ({})",
                       staying.size(), staying.front());
}

Result<std::string> remove_pods(Context& context, const Names& before) {
    for (int round = 0; round < kRounds; ++round) {
        auto now = list_pods(context.deadline);
        if (!now && now.error().code == Code::not_found) return pods_that_stay(context, before);
        if (!now) return std::unexpected(now.error());
        const Names going = leftovers::newer(*now, before);
        if (going.empty()) return std::string();
        for (const std::string& id : going) {
            auto done = remove_pod(id, context.deadline);
            if (!done) return during("removing pod " + id, done.error());
        }
    }
    return without_end("pods");
}

// --- chains

Result<Names> chains_before() {
    auto ruleset = list_ruleset();
    if (!ruleset) return std::unexpected(ruleset.error());
    return leftovers::names_of(*ruleset);
}

Result<std::string> chains_that_stay(Context& context) {
    auto tables = legacy_tables(context.root);
    if (!tables) return std::unexpected(tables.error());
    if (tables->empty()) return std::string();
    return fmt::format(
        "legacy tables of iptables cannot be looked into ({}): iptables-legacy-save "
        "and ip6tables-legacy-save tell which chains of theirs stay",
        fmt::join(*tables, ", "));
}

Result<std::string> remove_chains(Context& context, const Names& before) {
    for (int round = 0; round < kRounds; ++round) {
        auto now = list_ruleset();
        if (!now && now.error().code == Code::conflict) continue;
        if (!now) return std::unexpected(now.error());
        const Ruleset going = leftovers::filters(*now, before);
        if (going.chains.empty() && going.tables.empty()) return chains_that_stay(context);
        auto done = remove_from_filter(going);
        if (!done && done.error().code != Code::conflict) return std::unexpected(done.error());
    }
    return without_end("chains");
}

// --- links

Result<std::string> remove_links(Context& context, const Names& before) {
    auto now = list_links();
    if (!now) return std::unexpected(now.error());
    for (const std::string& name : leftovers::links(*now, before, context.links)) {
        if (auto done = delete_link(name); !done) return std::unexpected(done.error());
    }
    return std::string();
}

// --- control groups

/// In the hierarchies of version 1 that systemd does not keep, groups outlive their units.
Result<Names> groups_without_unit(Context& context) {
    auto hierarchies = names_in(context, kGroups);
    if (!hierarchies) return hierarchies;
    Names found;
    for (const std::string& hierarchy : *hierarchies) {
        const std::string group = fmt::format("{}/{}/kubepods.slice", kGroups, hierarchy);
        auto state = inspect(context.root, group);
        // A link has another name beside it; a file is no hierarchy.
        if (state && state->kind == PathKind::directory) found.push_back(group);
    }
    return found;
}

/// PID 1 runs the command: to us the control groups are read-only.
Result<std::string> remove_groups(Context& context) {
    auto groups = groups_without_unit(context);
    if (!groups) return std::unexpected(groups.error());
    if (groups->empty()) return std::string();
    Names argv{kFind};
    argv.insert(argv.end(), groups->begin(), groups->end());
    argv.insert(argv.end(), {"-depth", "-type", "d", "-delete"});
    auto code = context.systemd.run(
        {"kubexm-groups.service", "kubexm: remove control groups of pods", argv}, context.deadline);
    if (!code) return std::unexpected(code.error());
    if (*code == 0) return std::string();
    return fmt::format("control groups of pods stay: see journalctl -u kubexm-groups.service");
}

Result<Names> slices_before(Context& context) {
    return context.systemd.active_names(kSlices, context.deadline);
}

Result<std::string> remove_slices(Context& context, const Names& before) {
    auto now = slices_before(context);
    if (!now) return std::unexpected(now.error());
    for (const std::string& slice : leftovers::slices(*now, before)) {
        auto done = context.systemd.stop(slice, context.deadline);
        if (!done && done.error().code != Code::not_found) return std::unexpected(done.error());
    }
    const bool others = std::ranges::find(before, "kubepods.slice") != before.end();
    return others ? std::string() : remove_groups(context);
}

Result<Names> before_of(Context& context, ByProduct kind) {
    switch (kind) {
        case ByProduct::pods:
            return pods_before(context);
        case ByProduct::chains:
            return chains_before();
        case ByProduct::links:
            return list_links();
        case ByProduct::cgroups:
            return slices_before(context);
    }
    return fail(Code::internal, "no such kind of by-products");
}

}  // namespace

/// As a claim: when the ledger has it.
Result<bool> holds(Context& context, const model::ByProducts& step) {
    return context.previous == model::Step(step);
}

Result<Image> capture(Context& context, const model::ByProducts& step) {
    auto before = before_of(context, step.kind);
    if (!before) return std::unexpected(before.error());
    if (before->size() <= kMaxBefore) return ByProductsImage{*std::move(before)};
    return fail(Code::exhausted,
                fmt::format("{} {} are there already; more than {} cannot be remembered",
                            before->size(), name_of(step.kind), kMaxBefore));
}

Result<> apply(Context&, const model::ByProducts&) { return {}; }

Result<std::string> take_back(Context& context, const model::ByProducts& step, const Image& image) {
    auto known = image_as<ByProductsImage>(image);
    if (!known) return std::unexpected(known.error());
    switch (step.kind) {
        case ByProduct::pods:
            return remove_pods(context, known->before);
        case ByProduct::chains:
            return remove_chains(context, known->before);
        case ByProduct::links:
            return remove_links(context, known->before);
        case ByProduct::cgroups:
            return remove_slices(context, known->before);
    }
    return fail(Code::internal, "no such kind of by-products");
}

Result<Lines> preview(Context&, const model::ByProducts& step) {
    return Lines{fmt::format("{}: what appears is ours", name_of(step.kind))};
}

}  // namespace kubexm::hands::kinds
