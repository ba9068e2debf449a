#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/model/allow.hpp"
#include "daemon/model/step.hpp"

// What paths, keys, names and modes may be, apart from the steps they stand in. Pure; private to
// the module. denied: root did not allow it. invalid: nobody could.

namespace kubexm::executor {

inline constexpr std::uint32_t kMostOfFile = 0644;
inline constexpr std::uint32_t kMostOfDirectory = 0755;

/// Absolute and in its shortest spelling.
Result<> plain_path(const std::string& path);
/// Below a directory, or a file itself, that is listed for this type of step.
Result<> path_allowed(const model::AllowList& allow, std::string_view type,
                      const std::string& path);
/// Root owns everything and nobody else can write it: whom a directory belongs to decides what is
/// in it, be it drop-ins or static pods. No file can be executed, least of all as its owner.
Result<> access_allowed(const model::FileAccess& access, std::uint32_t most);
Result<> listed(const std::vector<std::string>& list, const std::string& wanted,
                std::string_view key);
Result<> sysctl_allowed(const model::AllowList& allow, const std::string& key,
                        const std::string& value);
bool is_digest(const std::string& text);
/// Without characters that would fool a person or a line-wise file.
bool is_plain(const std::string& text);

}  // namespace kubexm::executor
