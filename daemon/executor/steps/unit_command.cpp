#include "daemon/executor/steps/unit_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "daemon/base/io.hpp"
#include "daemon/base/text.hpp"
#include "daemon/executor/render/documents.hpp"
#include "daemon/executor/render/unit_text.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kMaxUnitFile = std::size_t{1} << 20U;
constexpr std::size_t kMaxCommand = 256;

/// The file that changes the start, as far as one can be blamed.
std::string changing_file(const UnitStatus& unit, const std::string& ours) {
    if (unit.fragment != ours) return unit.fragment;
    std::vector<std::string> found;
    for (const std::string& file : unit.drop_ins) {
        // Not below a Root: systemd follows links, too.
        const std::string text = kubexm::read_file(file, kMaxUnitFile).value_or("");
        if (start_setting_in(text)) found.push_back(file);
    }
    return fmt::format("{}", fmt::join(found.empty() ? unit.drop_ins : found, ", "));
}

std::string shown(const std::vector<UnitCommand>& commands) {
    if (commands.empty()) return "none";
    const std::string text = fmt::format("{}", fmt::join(commands.front().argv, " "));
    return printable(text.substr(0, kMaxCommand));
}

constexpr const char* kRemedy =
    "remove that file, or the package that it belongs to, then: systemctl daemon-reload";

/// Our unit files have none of these.
Result<> has_no_more_settings(const UnitStatus& unit, const std::string& file) {
    if (unit.start_settings.empty()) return {};
    return fail(Code::conflict,
                fmt::format("{}: expected {} without {}=, found it in {}; {}", unit.name, file,
                            unit.start_settings.front(), changing_file(unit, file), kRemedy));
}

}  // namespace

Result<> starts_as_written(Context& context, const UnitStatus& unit) {
    const std::string file = "/etc/systemd/system/" + unit.name;
    const auto text = read_file(context.root, file, kMaxUnitFile);
    const bool is_ours = text && text->find(kNotice) != std::string::npos;
    if (context.any_command || !is_ours) return {};
    const auto wanted = command_in(*text);
    const bool is_same = unit.fragment == file && unit.commands.size() == 1 && !wanted.empty() &&
                         unit.commands.front() == UnitCommand{wanted.front(), wanted};
    if (is_same) return has_no_more_settings(unit, file);
    return fail(Code::conflict,
                fmt::format("{}: expected the command in {}, found {} of {}; {}", unit.name, file,
                            shown(unit.commands), changing_file(unit, file), kRemedy));
}

}  // namespace kubexm::executor
