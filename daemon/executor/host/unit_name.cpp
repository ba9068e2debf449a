#include "daemon/executor/host/unit_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "daemon/base/scan.hpp"
#include "daemon/base/text.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kMaxName = 255;  // UNIT_NAME_MAX without its final NUL

constexpr std::array<std::string_view, 11> kTypes = {"service", "socket",    "target", "device",
                                                     "mount",   "automount", "swap",   "timer",
                                                     "path",    "slice",     "scope"};

// systemd may replace the end of a longer name by a hash.
constexpr std::size_t kMaxUnhashed = 128;

bool is_unescaped(char byte) { return is_alphanumeric(byte) || one_of(byte, ":_."); }
bool is_allowed(char byte) { return is_unescaped(byte) || one_of(byte, "-\\@"); }

/// The unmet expectation of the part before the type; empty: none.
std::string_view problem_of_stem(std::string_view stem) {
    if (stem.empty()) return "a name before the type";
    if (!std::ranges::all_of(stem, is_allowed)) {
        return "only letters, digits and : - _ . \\ @ in it";
    }
    if (stem.front() == '@') return "a name before the @";
    if (stem.find('@') == stem.size() - 1) return "an instance after the @";
    return "";
}

std::string_view problem_of(std::string_view name) {
    if (name.size() > kMaxName) return "at most 255 bytes";
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos) return "a type such as .service at its end";
    if (std::ranges::find(kTypes, name.substr(dot + 1)) == kTypes.end()) {
        return "a type such as .service at its end";
    }
    return problem_of_stem(name.substr(0, dot));
}

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
    const std::string_view expected = problem_of(name);
    if (expected.empty()) return {};
    return fail(Code::invalid, fmt::format("unit name \"{}\": expected {}",
                                           printable(name.substr(0, kMaxName)), expected));
}

}  // namespace kubexm::executor
