#pragma once

#include <map>
#include <string>

#include "daemon/base/log.hpp"

namespace kubexm::config {

// A configuration is a tree of plain structs that hold the defaults. A struct says its keys once,
// in `fields(self, visit)`: key, member and, for a text or a list of texts, the rule it must meet.

/// Where a value comes from: "log.level" -> the file that set it last. What is not here is a
/// built-in default.
using Origins = std::map<std::string, std::string>;

struct LogSettings {
    log::Level level = log::Level::info;

    bool operator==(const LogSettings&) const = default;
    static void fields(auto& self, auto&& visit) { visit("level", self.level); }
};

}  // namespace kubexm::config
