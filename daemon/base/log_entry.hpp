#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/log.hpp"

// How an entry looks in the journal and on a terminal, apart from sending it anywhere.

namespace kubexm::log {

struct Entry {
    Level level = Level::info;
    std::string_view message;
    std::span<const Field> fields;
};

/// What the journal takes: capitals, digits and underscores, beginning with a letter, at most 64.
bool is_field_name(std::string_view name);

/// The fields of the entry as NAME=value. Values go as they are: the journal keeps their bounds.
std::vector<std::string> journal_form(const Entry& entry, std::string_view program);

/// One line: "warning cannot read it, ignoring CODE=denied FILE="/a b"", ending in a newline and
/// holding no other, whatever message and values contain.
std::string line_form(const Entry& entry);

/// Whether `fd` is the stream to the journal that systemd announced in JOURNAL_STREAM.
bool is_journal_stream(int fd, std::string_view journal_stream);

}  // namespace kubexm::log
