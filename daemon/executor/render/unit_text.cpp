#include "daemon/executor/render/unit_text.hpp"

#include <algorithm>

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

constexpr std::string_view kCommand = "ExecStart";

std::string_view without_leading_blanks(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
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

bool sets_command(std::string_view drop_in) {
    for (const std::string_view line : lines_of(drop_in)) {
        std::string_view text = without_leading_blanks(line);
        if (!text.starts_with(kCommand)) continue;
        text.remove_prefix(kCommand.size());
        if (without_leading_blanks(text).starts_with('=')) return true;
    }
    return false;
}

}  // namespace kubexm::executor
