#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kubexm::executor {

// Text for systemd's unit files, quoted so that systemd expands no specifier, variable or escape.
// Line breaks and control characters must have been refused before.

/// One word of a command line.
std::string command_word(std::string_view text);

/// One word of Environment=, where "$" is not special.
std::string environment_word(std::string_view text);

/// A template with its placeholder filled in.
std::string filled(std::string_view text, std::string_view placeholder, std::string_view value);

/// The command of a unit that this module rendered.
std::vector<std::string> command_in(std::string_view unit);

/// The setting of a drop-in that decides which programs the unit starts, as which user, or from
/// which files: "ExecStart". Nothing: it has none.
std::optional<std::string_view> start_setting_in(std::string_view drop_in);

}  // namespace kubexm::executor
