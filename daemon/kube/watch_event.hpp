#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"

namespace kubexm::kube {

/// One line of a watch.
struct WatchEvent {
    enum class Type {
        changed,   // ADDED, MODIFIED
        deleted,   // DELETED
        bookmark,  // BOOKMARK: only a newer version
        error,     // ERROR: `object` is a Status
        unknown,   // a type of a newer server
    };
    Type type = Type::unknown;
    nlohmann::json object;
    std::string name;     // of the object; may be empty
    std::string version;  // its resourceVersion
};

/// invalid: not an event, or an event of a known type without a version.
Result<WatchEvent> read_event(std::string_view line);

/// metadata.resourceVersion and metadata.name of an object or a list; empty if missing.
std::string version_of(const nlohmann::json& object);
std::string name_of(const nlohmann::json& object);

}  // namespace kubexm::kube
