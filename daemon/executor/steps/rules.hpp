#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/model/allow.hpp"
#include "daemon/model/step.hpp"

// Rules for paths, keys and modes that several step types share. Pure; private to the module.
// denied: root's allow-list lacks it. invalid: no allow-list could permit it.

namespace kubexm::executor {

inline constexpr std::uint32_t kMaxFileMode = 0644;
inline constexpr std::uint32_t kMaxSecretMode = 0600;
inline constexpr std::uint32_t kMaxDirectoryMode = 0755;

Result<> check_path(const std::string& path);
/// Below a directory that is listed for this step type, or a listed file itself.
Result<> path_permitted(const model::AllowList& allow, std::string_view type,
                        const std::string& path);
/// Owner and group must be root, and no one else may write: the owner of a directory decides about
/// the drop-ins and static pods in it. No file may be executable.
Result<> access_permitted(const model::FileAccess& access, std::uint32_t most);
/// `list` is allow.`key`.
Result<> listed(const std::vector<std::string>& list, const std::string& name,
                std::string_view key);
/// Whether a file of this kind may be at a path, whatever the lists say.
Result<> path_suits_kind(const std::string& path, model::DataKind kind);
/// Its type, and the server, registries or link that it names.
Result<> document_permitted(const model::AllowList& allow, const model::Document& document);
Result<> sysctl_permitted(const model::AllowList& allow, const std::string& key,
                          const std::string& value);

}  // namespace kubexm::executor
