#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/log.hpp"

// The forms of an entry in the journal and on a terminal.

namespace kubexm::log {

struct Entry {
    Level level = Level::info;
    std::string_view message;
    std::span<const Field> fields;
};

/// As the journal demands: capitals, digits and underscores, a capital first, at most 64.
bool is_field_name(std::string_view name);

/// The fields of the entry as NAME=value, values unchanged.
std::vector<std::string> journal_form(const Entry& entry, std::string_view program);

/// One line: "warning cannot read it, ignoring CODE=denied FILE="/a b"", with the only newline at
/// its end.
std::string line_form(const Entry& entry);

/// Whether `fd` is the stream to the journal that systemd announced in JOURNAL_STREAM.
bool is_journal_stream(int fd, std::string_view journal_stream);

}  // namespace kubexm::log
