#include "daemon/executor/steps/claimed_entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "daemon/base/try.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/kubelet_layout.hpp"

namespace kubexm::executor::claimed {

namespace {

/// Neither kubelet nor containerd writes a file there: the files of a join are steps of their own.
constexpr std::array<std::string_view, 2> kOfOthers{"/etc/kubernetes", "/usr/libexec/kubernetes"};

bool is_of_others(std::string_view path) {
    return std::ranges::any_of(kOfOthers, [&](std::string_view tree) {
        return path == tree || is_strictly_below(path, tree);
    });
}

bool is_ours(const Context& context, const model::Claim& step, const std::string& name,
             const std::string& path) {
    return name.starts_with(step.prefix.value_or("")) && !is_of_others(path) &&
           !kinds::holds_others(context, path);
}

/// Entries of a directory of kubelet that kubelet did not make: their paths.
Result<> add_unknown(Context& context, const kubelet_layout::KnownDirectory& known,
                     ObjectNames& kept) {
    const std::string path(known.path);
    const auto state = inspect(context.root, path);
    if (!state || state->kind != PathKind::directory) return {};
    const auto names = TRY(kinds::entries_in(context, path, kMaxNewEntries));
    for (const std::string& name : names) {
        if (!known.has(name)) kept.push_back(fmt::format("{}/{}", path, name));
    }
    return {};
}

bool has_some_below(const ObjectNames& kept, const std::string& path) {
    const auto first = std::ranges::lower_bound(kept, path + "/");
    return first != kept.end() && is_strictly_below(*first, path);
}

bool has_one_around(const ObjectNames& kept, std::string path) {
    for (std::size_t end = path.rfind('/'); end != std::string::npos; end = path.rfind('/')) {
        path.resize(end);
        if (contains(kept, path)) return true;
    }
    return false;
}

Result<> delete_entry(Context& context, const std::string& path) {
    auto done = remove_path(context.root, path);
    const bool is_full = !done && done.error().code == Code::conflict;
    return is_full ? kinds::delete_all_below(context, path) : done;
}

}  // namespace

bool contains(const ObjectNames& sorted, const std::string& name) {
    return std::ranges::binary_search(sorted, name);
}

bool is_strictly_below(std::string_view path, std::string_view directory) {
    return path.size() > directory.size() && path.starts_with(directory) &&
           path[directory.size()] == '/';
}

std::string entry_of(const std::string& directory, std::string_view path) {
    const std::size_t begin = directory.size() + 1;
    return std::string(path.substr(begin, path.find('/', begin) - begin));
}

Result<ObjectNames> new_entries(Context& context, const std::string& path,
                                const ObjectNames& before) {
    auto names = TRY(kinds::entries_in(context, path, kMaxNewEntries));
    std::erase_if(names, [&](const std::string& name) { return contains(before, name); });
    return names;
}

Result<ObjectNames> paths_of_others(Context& context, const model::Claim& step,
                                    const ObjectNames& entries, ObjectNames mounted) {
    ObjectNames kept = std::move(mounted);
    for (const std::string& name : entries) {
        const std::string path = fmt::format("{}/{}", step.path, name);
        if (!is_ours(context, step, name, path)) kept.push_back(path);
    }
    for (const auto& known : kubelet_layout::known_directories()) {
        const bool is_here = known.path == step.path || is_strictly_below(known.path, step.path);
        if (is_here) TRY(add_unknown(context, known, kept));
    }
    std::erase_if(kept, [&](const std::string& path) {
        return !contains(entries, entry_of(step.path, path));
    });
    std::ranges::sort(kept);
    return kept;
}

Result<> delete_entries(Context& context, const std::string& directory, const ObjectNames& names,
                        const ObjectNames& kept) {
    for (const std::string& name : names) {
        const std::string path = fmt::format("{}/{}", directory, name);
        TRY(in_time(context.deadline, path));
        if (contains(kept, path)) continue;
        if (has_some_below(kept, path)) {
            const ObjectNames inner = TRY(kinds::entries_in(context, path, kMaxNewEntries));
            TRY(delete_entries(context, path, inner, kept));
        } else {
            TRY(delete_entry(context, path));
        }
    }
    return {};
}

ObjectNames names_of(const std::string& directory, const ObjectNames& kept) {
    ObjectNames names;
    for (const std::string& path : kept) {
        if (has_one_around(kept, path)) continue;
        std::string name = path.substr(directory.size() + 1);
        if (names.empty() || names.back() != name) names.push_back(std::move(name));
    }
    return names;
}

}  // namespace kubexm::executor::claimed
