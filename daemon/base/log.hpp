#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/base/names.hpp"

namespace kubexm::log {

/// The numbers of syslog, for journalctl -p.
enum class Level { error = 3, warning = 4, notice = 5, info = 6, debug = 7 };

/// A structured field: NAME in capitals (PLAN, STEP, UNIT, CODE, MESSAGE_ID), never a secret.
using Field = std::pair<std::string_view, std::string_view>;

/// Writes one entry: with its fields to the journal if standard error is connected to it, else as
/// one line on standard error. Any thread. Entries below the level are dropped.
void write(Level level, std::string_view message, std::span<const Field> fields);

inline void write(Level level, std::string_view message, std::initializer_list<Field> fields = {}) {
    write(level, message, std::span(fields.begin(), fields.size()));
}

inline void error(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::error, message, fields);
}
inline void warning(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::warning, message, fields);
}
inline void notice(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::notice, message, fields);
}
inline void info(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::info, message, fields);
}
inline void debug(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::debug, message, fields);
}

/// Any thread.
void set_level(Level level);

}  // namespace kubexm::log

namespace kubexm {

template <>
struct Names<log::Level> {
    static constexpr std::array<std::pair<log::Level, std::string_view>, 5> kAll{{
        {log::Level::error, "error"},
        {log::Level::warning, "warning"},
        {log::Level::notice, "notice"},
        {log::Level::info, "info"},
        {log::Level::debug, "debug"},
    }};
};

}  // namespace kubexm
