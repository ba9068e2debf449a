#include "daemon/base/log_entry.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "daemon/base/scan.hpp"
#include "daemon/base/text.hpp"

namespace kubexm::log {

namespace {

constexpr std::size_t kMaxFieldName = 64;  // systemd's journal_field_valid()

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

[[maybe_unused]] bool have_valid_names(std::span<const Field> fields) {
    return std::ranges::all_of(fields,
                               [](const Field& field) { return is_field_name(field.first); });
}

/// A value with white space is quoted, so that it is not taken for several fields.
std::string shown_value(std::string_view value) {
    std::string shown = printable(value);
    if (!shown.empty() && shown.find_first_of(" \"\\") == std::string::npos) return shown;
    std::string quoted = "\"";
    for (const char c : shown) {
        if (c == '"') quoted += '\\';
        quoted += c;
    }
    return quoted + "\"";
}

}  // namespace

bool is_field_name(std::string_view name) {
    const auto is_part = [](char c) { return is_capital(c) || is_digit(c) || c == '_'; };
    return name.size() <= kMaxFieldName && made_of(name, is_part) && is_capital(name.front());
}

std::vector<std::string> journal_form(const Entry& entry, std::string_view program) {
    assert(have_valid_names(entry.fields));
    std::vector<std::string> fields{
        fmt::format("MESSAGE={}", entry.message),
        fmt::format("PRIORITY={}", static_cast<int>(entry.level)),
        fmt::format("SYSLOG_IDENTIFIER={}", program),
    };
    for (const auto& [name, value] : entry.fields) {
        fields.push_back(fmt::format("{}={}", name, value));
    }
    return fields;
}

std::string line_form(const Entry& entry) {
    assert(have_valid_names(entry.fields));
    std::string line = fmt::format("{} {}", name_of(entry.level), printable(entry.message));
    for (const auto& [name, value] : entry.fields) {
        line += fmt::format(" {}={}", name, shown_value(value));
    }
    return line + "\n";
}

bool is_journal_stream(int fd, std::string_view journal_stream) {
    struct stat status{};
    if (::fstat(fd, &status) != 0) return false;
    return journal_stream == fmt::format("{}:{}", status.st_dev, status.st_ino);
}

}  // namespace kubexm::log
