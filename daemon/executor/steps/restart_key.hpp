#pragma once

#include <string>
#include <string_view>

namespace kubexm::executor {

// The restart_key of a unit identifies the configuration that the running unit was started with. A
// repair restarts a unit without another key: it adds "#" and its own id, which later plans do not
// compare.

inline std::string_view without_repair(std::string_view key) {
    return key.substr(0, key.find('#'));
}

inline std::string restart_key_for(std::string_view key, std::string_view repair) {
    return std::string(without_repair(key)) + "#" + std::string(repair);
}

/// Whether a unit that was started with `applied` has to be restarted for `wanted`.
inline bool needs_another_start(std::string_view applied, std::string_view wanted) {
    return applied != wanted && without_repair(applied) != wanted;
}

}  // namespace kubexm::executor
