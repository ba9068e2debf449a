#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "daemon/base/error.hpp"

namespace kubexm::kube {

/// One line of a watch, understood.
struct WatchEvent {
    enum class Type {
        changed,   // ADDED, MODIFIED
        deleted,   // DELETED
        bookmark,  // BOOKMARK: only a newer version
        error,     // ERROR: `object` is a Status
        unknown,   // a type of the future
    };
    Type type = Type::unknown;
    nlohmann::json object;
    std::string name;     // of the object; empty where it has none
    std::string version;  // its resourceVersion
};

/// invalid: no event, or one of a known type without a version.
Result<WatchEvent> read_event(std::string_view line);

/// metadata.resourceVersion and metadata.name of an object or a list; empty where it has none.
std::string version_of(const nlohmann::json& object);
std::string name_of(const nlohmann::json& object);

}  // namespace kubexm::kube
