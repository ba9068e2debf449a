#pragma once

#include <map>
#include <string>

#include "daemon/base/log.hpp"

namespace kubexm::config {

// A configuration is a tree of plain structs that hold the defaults. A struct lists its keys once,
// in `fields(self, visit)`: key, member and, for a text or a list of texts, its rule.

/// "log.level" to the file that set it last. A key without an entry has its default.
using Origins = std::map<std::string, std::string>;

struct LogSettings {
    log::Level level = log::Level::info;

    bool operator==(const LogSettings&) const = default;
    static void fields(auto& self, auto&& visit) { visit("level", self.level); }
};

}  // namespace kubexm::config
