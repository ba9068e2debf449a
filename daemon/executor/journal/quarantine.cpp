#include "daemon/executor/journal/quarantine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "daemon/base/crash_point.hpp"
#include "daemon/executor/journal/database.hpp"
#include "daemon/executor/journal/vault.hpp"

namespace kubexm::executor::journal {

namespace {

constexpr std::string_view kPrefix = "journal.db.corrupt-";

/// The number of a file that was set aside; nothing for any other name.
std::optional<std::uint32_t> number_of(std::string_view name) {
    if (!name.starts_with(kPrefix)) return std::nullopt;
    name.remove_prefix(kPrefix.size());
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
    return number;
}

/// From the highest to the lowest.
Result<std::vector<std::uint32_t>> numbers(const StateDirectory& directory) {
    auto entries = directory.entries();
    if (!entries) return std::unexpected(entries.error());
    std::vector<std::uint32_t> found;
    for (const std::string& name : *entries) {
        if (const auto number = number_of(name)) found.push_back(*number);
    }
    std::sort(found.begin(), found.end(), std::greater<>());
    return found;
}

std::string file_name_of(std::uint32_t number) { return fmt::format("{}{}", kPrefix, number); }

/// The log must not be missing beside either name at any instant: it goes along by a second name,
/// and the first goes when the database has gone.
Result<> take_side_files_along(const StateDirectory& directory, const std::string& name) {
    for (const char* suffix : kSideFiles) {
        const std::string from = std::string(kDatabaseFile) + suffix;
        if (auto gone = directory.remove(name + suffix); !gone) return gone;
        auto there = directory.has(from);
        if (!there) return std::unexpected(there.error());
        if (!*there) continue;
        if (auto linked = directory.link(from, name + suffix); !linked) return linked;
    }
    return directory.sync();
}

Result<> move_to(const StateDirectory& directory, const std::string& name) {
    if (auto taken = take_side_files_along(directory, name); !taken) return taken;
    crash_point("journal.set-aside.before");
    if (auto renamed = directory.rename(kDatabaseFile, name); !renamed) return renamed;
    if (auto synced = directory.sync(); !synced) return synced;
    crash_point("journal.set-aside.after");
    return remove_side_files(directory);
}

}  // namespace

Result<std::vector<std::string>> quarantined_files(const StateDirectory& directory) {
    auto found = numbers(directory);
    if (!found) return std::unexpected(found.error());
    std::vector<std::string> names;
    for (const std::uint32_t number : *found) names.push_back(file_name_of(number));
    return names;
}

Result<std::optional<std::string>> waiting_file(const StateDirectory& directory) {
    auto there = directory.has(kDatabaseFile);
    if (!there) return std::unexpected(there.error());
    if (*there) return std::nullopt;
    auto files = quarantined_files(directory);
    if (!files) return std::unexpected(files.error());
    if (files->empty()) return std::nullopt;
    return files->front();
}

std::string content_beside(const std::string& file) {
    return fmt::format("{}.corrupt-{}", kVaultDirectory, number_of(file).value_or(0));
}

Result<std::string> quarantine_file(const StateDirectory& directory) {
    auto there = directory.has(kDatabaseFile);
    if (!there) return std::unexpected(there.error());
    if (!*there) {
        return fail(Code::not_found, directory.path_of(kDatabaseFile) + ": there is no journal");
    }
    auto taken = numbers(directory);
    if (!taken) return std::unexpected(taken.error());
    std::string name = file_name_of(taken->empty() ? 1 : taken->front() + 1);
    if (auto moved = move_to(directory, name); !moved) return std::unexpected(moved.error());
    return name;
}

}  // namespace kubexm::executor::journal
