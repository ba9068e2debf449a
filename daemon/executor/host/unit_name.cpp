#include "daemon/executor/host/unit_name.hpp"

#include <fmt/format.h>

#include <string>

#include "daemon/base/grammar.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/text.hpp"

namespace kubexm::executor {

namespace {

// systemd may replace the end of a longer name by a hash.
constexpr std::size_t kMaxUnhashed = 128;

bool is_unescaped(char byte) { return is_alphanumeric(byte) || one_of(byte, ":_."); }

std::string_view without_slashes(std::string_view path) {
    while (path.starts_with('/')) path.remove_prefix(1);
    while (path.ends_with('/')) path.remove_suffix(1);
    return path;
}

/// As in unit names: /var/lib-a becomes var-lib\x2da.
std::string escaped(std::string_view path) {
    std::string name;
    for (const char byte : path) {
        if (byte == '/') {
            name += '-';
        } else if (is_unescaped(byte) && (byte != '.' || !name.empty())) {
            name += byte;
        } else {
            name += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
        }
    }
    return name;
}

}  // namespace

bool may_name_a_path_below(std::string_view unit, std::string_view directory) {
    const std::string_view path = without_slashes(directory);
    return path.empty() || unit.size() > kMaxUnhashed || unit.starts_with(escaped(path) + "-");
}

Result<> check_unit_name(std::string_view name) {
    if (is_unit_name(name)) return {};
    constexpr std::size_t kMaxShown = 255;
    return fail(Code::invalid, fmt::format("unit name \"{}\": expected {}",
                                           printable(name.substr(0, kMaxShown)), kUnitName.words));
}

}  // namespace kubexm::executor
