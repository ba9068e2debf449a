#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/steps/context.hpp"
#include "daemon/executor/steps/pre_image.hpp"

// Which of the new entries of a claimed directory are ours. Private to this module.

namespace kubexm::executor::claimed {

constexpr std::size_t kMaxNewEntries = std::size_t{1} << 20U;

bool contains(const ObjectNames& sorted, const std::string& name);

bool is_strictly_below(std::string_view path, std::string_view directory);

/// The name of the entry of a directory that a path below it is, or is in.
std::string entry_of(const std::string& directory, std::string_view path);

/// The names in a directory that are not in `before`, sorted.
Result<ObjectNames> new_entries(Context& context, const std::string& path,
                                const ObjectNames& before);

/// The paths of what others have in or below these entries of the claimed directory, sorted:
/// objects of other owners, names that kubelet does not use, and what is `mounted`.
Result<ObjectNames> paths_of_others(Context& context, const model::Claim& step,
                                    const ObjectNames& entries, ObjectNames mounted);

/// Deletes entries of a directory but for the paths in `kept`, which is sorted.
Result<> delete_entries(Context& context, const std::string& directory, const ObjectNames& names,
                        const ObjectNames& kept);

/// The paths without the directory in front, and without those inside of another one.
ObjectNames names_of(const std::string& directory, const ObjectNames& kept);

}  // namespace kubexm::executor::claimed
