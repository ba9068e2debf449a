#include "daemon/cli/preflight_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kubexm::cli {

namespace {

using model::Finding;

constexpr std::size_t kColumns = 5;
using Row = std::array<std::string, kColumns>;  // the last column is as wide as its text
using Lines = std::vector<std::string>;

/// Two of these, the other columns and a short remedy fit into 120 columns.
constexpr std::size_t kWidth = 30;

/// Paths and commands stay in one piece, for people who copy them.
Lines wrapped(const std::string& text) {
    Lines lines{""};
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        std::string& line = lines.back();
        const bool fits = line.empty() || line.size() + 1 + word.size() <= kWidth;
        fits ? line += (line.empty() ? "" : " ") + word : lines.emplace_back(word);
        at = end + 1;
    }
    return lines;
}

std::array<Lines, kColumns> cells_of(const Row& row) {
    return {Lines{row[0]}, Lines{row[1]}, wrapped(row[2]), wrapped(row[3]), Lines{row[4]}};
}

std::array<std::size_t, kColumns> widths_of(const std::vector<Row>& rows) {
    std::array<std::size_t, kColumns> widths{};
    for (const Row& row : rows) {
        const auto cells = cells_of(row);
        for (std::size_t column = 0; column + 1 < kColumns; ++column) {
            for (const std::string& line : cells.at(column)) {
                widths.at(column) = std::max(widths.at(column), line.size());
            }
        }
    }
    return widths;
}

std::string text_of(const Row& row, const std::array<std::size_t, kColumns>& widths) {
    const auto cells = cells_of(row);
    const std::size_t height = std::ranges::max_element(cells, {}, &Lines::size)->size();
    std::string text;
    for (std::size_t line = 0; line < height; ++line) {
        std::string whole;
        for (std::size_t column = 0; column < kColumns; ++column) {
            const Lines& cell = cells.at(column);
            whole += fmt::format("{:<{}}", line < cell.size() ? cell[line] : "",
                                 column + 1 == kColumns ? 0 : widths.at(column) + 2);
        }
        text += whole.substr(0, whole.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

std::string table_of(const std::vector<Finding>& findings) {
    std::vector<Row> rows{{"ID", "SEVERITY", "FOUND", "NEEDED", "REMEDY"}};
    for (const Finding& each : findings) {
        rows.push_back({std::string(name_of(each.id)), std::string(name_of(each.severity)),
                        each.found, each.needed, each.remedy});
    }
    const auto widths = widths_of(rows);
    std::string text;
    for (const Row& row : rows) text += text_of(row, widths);
    return text;
}

}  // namespace

std::string preflight_text(const std::vector<Finding>& findings) {
    const bool is_ready =
        std::ranges::find(findings, model::Severity::error, &Finding::severity) == findings.end();
    return (findings.empty() ? "" : table_of(findings)) +
           (is_ready ? "This host is ready for a join.\n" : "This host is not ready for a join.\n");
}

}  // namespace kubexm::cli
