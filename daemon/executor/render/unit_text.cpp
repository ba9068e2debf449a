#include "daemon/executor/render/unit_text.hpp"

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

}  // namespace

std::string command_word(std::string_view text) { return quoted(text, "%$"); }

std::string environment_word(std::string_view text) { return quoted(text, "%"); }

std::string filled(std::string_view text, std::string_view placeholder, std::string_view value) {
    std::string unit(text);
    return unit.replace(unit.find(placeholder), placeholder.size(), value);
}

}  // namespace kubexm::executor
