#include "daemon/executor/journal/quarantine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/journal/database.hpp"
#include "daemon/executor/journal/vault.hpp"

namespace kubexm::executor::journal {

namespace {

constexpr std::string_view kPrefix = "journal.db.corrupt-";

/// The number of a quarantined file; nothing for any other name.
std::optional<std::uint32_t> number_of(std::string_view name) {
    if (!name.starts_with(kPrefix)) return std::nullopt;
    name.remove_prefix(kPrefix.size());
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
    return number;
}

/// Highest first.
Result<std::vector<std::uint32_t>> numbers(const StateDirectory& directory) {
    const auto entries = TRY(directory.entries());
    std::vector<std::uint32_t> found;
    for (const std::string& name : entries) {
        if (const auto number = number_of(name)) found.push_back(*number);
    }
    std::sort(found.begin(), found.end(), std::greater<>());
    return found;
}

std::string file_name_of(std::uint32_t number) { return fmt::format("{}{}", kPrefix, number); }

/// The log must be beside the database under its old and its new name at every instant: links it to
/// the new name; the old name is removed after the database was renamed.
Result<> link_side_files(const StateDirectory& directory, const std::string& name) {
    for (const char* suffix : kSideFiles) {
        const std::string from = std::string(kDatabaseFile) + suffix;
        TRY(directory.remove(name + suffix));
        const bool exists = TRY(directory.has(from));
        if (exists) TRY(directory.link(from, name + suffix));
    }
    return directory.sync();
}

Result<> move_to(const StateDirectory& directory, const std::string& name) {
    TRY(link_side_files(directory, name));
    crash_point("journal.quarantine.before");
    TRY(directory.rename(kDatabaseFile, name));
    TRY(directory.sync());
    crash_point("journal.quarantine.after");
    return remove_side_files(directory);
}

}  // namespace

Result<std::vector<std::string>> quarantined_files(const StateDirectory& directory) {
    const auto found = TRY(numbers(directory));
    std::vector<std::string> names;
    names.reserve(found.size());
    for (const std::uint32_t number : found) names.push_back(file_name_of(number));
    return names;
}

Result<std::optional<std::string>> waiting_file(const StateDirectory& directory) {
    const bool replaced = TRY(directory.has(kDatabaseFile));
    const auto files = TRY(quarantined_files(directory));
    if (replaced || files.empty()) return std::nullopt;
    return files.front();
}

std::string preserved_content_of(const std::string& file) {
    return fmt::format("{}.corrupt-{}", kVaultDirectory, number_of(file).value_or(0));
}

Result<std::string> quarantine_file(const StateDirectory& directory) {
    const bool exists = TRY(directory.has(kDatabaseFile));
    if (!exists) return fail(Code::not_found, directory.path_of(kDatabaseFile) + ": no journal");
    const auto used = TRY(numbers(directory));
    std::string name = file_name_of(used.empty() ? 1 : used.front() + 1);
    TRY(move_to(directory, name));
    return name;
}

}  // namespace kubexm::executor::journal
