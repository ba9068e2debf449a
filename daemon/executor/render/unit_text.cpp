#include "daemon/executor/render/unit_text.hpp"

#include <algorithm>
#include <iterator>

#include "daemon/base/scan.hpp"

namespace kubexm::executor {

namespace {

/// Each character of `doubled` is written twice, a quote or backslash with a backslash before it.
std::string quoted(std::string_view text, std::string_view doubled) {
    std::string word = "\"";
    for (const char c : text) {
        if (doubled.find(c) != std::string_view::npos) word += c;
        if (c == '"' || c == '\\') word += '\\';
        word += c;
    }
    return word + '"';
}

/// Beside Environment=. An empty ExecStart= counts, too: it takes away the command of the unit.
constexpr std::string_view kCommand = "ExecStart";
constexpr std::string_view kStartSettings[] = {
    kCommand,          "ExecCondition",       "ExecStartPre", "ExecStartPost", "ExecReload",
    "ExecStop",        "ExecStopPost",        "User",         "Group",         "DynamicUser",
    "RootDirectory",   "RootImage",           "BindPaths",    "MountImages",   "BindReadOnlyPaths",
    "ExtensionImages", "ExtensionDirectories"};
constexpr std::string_view kEnvironment = "Environment";

std::string_view without_leading_blanks(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

std::string_view first_word(std::string_view text) {
    return text.substr(0, text.find_first_of(" \t"));
}

/// ld.so reads these in every program.
bool has_variable_of_linker(std::string_view value) {
    return std::ranges::any_of(words_of(value), [](std::string_view word) {
        word.remove_prefix(std::min(word.find_first_not_of("\"'"), word.size()));
        return word.starts_with("LD_");
    });
}

std::optional<std::string_view> start_setting_of_line(std::string_view line) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view name = first_word(without_leading_blanks(line.substr(0, equals)));
    const std::string_view value = without_leading_blanks(line.substr(equals + 1));
    if (name == kEnvironment && has_variable_of_linker(value)) return kEnvironment;
    const auto* known = std::ranges::find(kStartSettings, name);
    if (known == std::end(kStartSettings) || (value.empty() && name != kCommand)) return {};
    return *known;
}

}  // namespace

std::string command_word(std::string_view text) { return quoted(text, "%$"); }

std::string environment_word(std::string_view text) { return quoted(text, "%"); }

std::string filled(std::string_view text, std::string_view placeholder, std::string_view value) {
    std::string unit(text);
    return unit.replace(unit.find(placeholder), placeholder.size(), value);
}

/// No word of ours needs its quotes: see base/grammar.hpp.
std::vector<std::string> command_in(std::string_view unit) {
    std::string rest(unit.substr(std::min(unit.find("\nExecStart="), unit.size())));
    rest.erase(0, rest.find('=') + 1);
    std::vector<std::string> words;
    std::erase(rest, '"');
    for (std::string_view line : lines_of(rest)) {
        const bool goes_on = line.ends_with('\\');
        if (goes_on) line.remove_suffix(1);
        for (const std::string_view word : words_of(line)) words.emplace_back(word);
        if (!goes_on) break;
    }
    return words;
}

std::optional<std::string_view> start_setting_in(std::string_view drop_in) {
    for (const std::string_view line : lines_of(drop_in)) {
        if (const auto setting = start_setting_of_line(line)) return setting;
    }
    return std::nullopt;
}

}  // namespace kubexm::executor
