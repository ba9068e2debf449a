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

/// The file that replaces the command, as far as one can be blamed.
std::string replacing_file(const UnitStatus& unit, const std::string& ours) {
    if (unit.fragment != ours) return unit.fragment;
    std::vector<std::string> found;
    for (const std::string& file : unit.drop_ins) {
        // Not below a Root: systemd follows links, too.
        if (sets_command(kubexm::read_file(file, kMaxUnitFile).value_or(""))) found.push_back(file);
    }
    return fmt::format("{}", fmt::join(found.empty() ? unit.drop_ins : found, ", "));
}

std::string shown(const std::vector<UnitCommand>& commands) {
    if (commands.empty()) return "none";
    const std::string text = fmt::format("{}", fmt::join(commands.front().argv, " "));
    return printable(text.substr(0, kMaxCommand));
}

}  // namespace

Result<> has_our_command(Context& context, const UnitStatus& unit) {
    const std::string file = "/etc/systemd/system/" + unit.name;
    const auto text = read_file(context.root, file, kMaxUnitFile);
    const bool is_ours = text && text->find(kNotice) != std::string::npos;
    if (context.any_command || !is_ours) return {};
    const auto wanted = command_in(*text);
    const bool is_same = unit.fragment == file && unit.commands.size() == 1 && !wanted.empty() &&
                         unit.commands.front() == UnitCommand{wanted.front(), wanted};
    if (is_same) return {};
    return fail(Code::conflict,
                fmt::format("{}: expected the command in {}, found {} of {}; remove that file, or "
                            "the package that it belongs to, then: systemctl daemon-reload",
                            unit.name, file, shown(unit.commands), replacing_file(unit, file)));
}

}  // namespace kubexm::executor
