#include "daemon/executor/steps/diff.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/scan.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kContext = 3;
constexpr std::size_t kMaxCompared = 500;  // lines; the table below has their product

struct Line {
    char mark = ' ';  // ' ', '-' or '+'
    std::string_view text;
};

/// Lengths of the longest common subsequences of every pair of tails.
std::vector<std::vector<unsigned short>> common_tails(const std::vector<std::string_view>& a,
                                                      const std::vector<std::string_view>& b) {
    std::vector<std::vector<unsigned short>> length(a.size() + 1,
                                                    std::vector<unsigned short>(b.size() + 1));
    for (std::size_t i = a.size(); i-- > 0;) {
        for (std::size_t j = b.size(); j-- > 0;) {
            length[i][j] = a[i] == b[j] ? static_cast<unsigned short>(length[i + 1][j + 1] + 1)
                                        : std::max(length[i + 1][j], length[i][j + 1]);
        }
    }
    return length;
}

std::vector<Line> compare(const std::vector<std::string_view>& a,
                          const std::vector<std::string_view>& b) {
    const auto length = common_tails(a, b);
    std::vector<Line> script;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() || j < b.size()) {
        if (i < a.size() && j < b.size() && a[i] == b[j]) {
            script.push_back({' ', a[i++]});
            ++j;
        } else if (j == b.size() || (i < a.size() && length[i + 1][j] >= length[i][j + 1])) {
            script.push_back({'-', a[i++]});
        } else {
            script.push_back({'+', b[j++]});
        }
    }
    return script;
}

/// Whether a line of the script is a change or within the context of one.
std::vector<bool> shown(const std::vector<Line>& script) {
    std::vector<bool> keep(script.size());
    for (std::size_t i = 0; i < script.size(); ++i) {
        if (script[i].mark == ' ') continue;
        const std::size_t first = i - std::min(i, kContext);
        const std::size_t last = std::min(script.size(), i + kContext + 1);
        std::fill(keep.begin() + static_cast<std::ptrdiff_t>(first),
                  keep.begin() + static_cast<std::ptrdiff_t>(last), true);
    }
    return keep;
}

/// "@@ -3,4 +3,5 @@" for the run of shown lines that begins at `from`.
std::string hunk_header(const std::vector<Line>& script, const std::vector<bool>& keep,
                        std::size_t from, std::size_t old_line, std::size_t new_line) {
    std::size_t old_count = 0;
    std::size_t new_count = 0;
    for (std::size_t i = from; i < script.size() && keep[i]; ++i) {
        if (script[i].mark != '+') ++old_count;
        if (script[i].mark != '-') ++new_count;
    }
    return fmt::format("@@ -{},{} +{},{} @@", old_count == 0 ? old_line : old_line + 1, old_count,
                       new_count == 0 ? new_line : new_line + 1, new_count);
}

std::string shortened(std::string line) {
    if (line.size() <= kMaxPreviewLine) return line;
    std::size_t end = kMaxPreviewLine;
    // Not through the middle of a character, which has at most four bytes.
    for (int i = 0; i < 3 && (static_cast<unsigned char>(line[end]) & 0xc0U) == 0x80U; ++i) --end;
    return fmt::format("{}... {} more bytes", line.substr(0, end), line.size() - end);
}

}  // namespace

std::vector<std::string> unified_diff(const std::string& path, std::string_view before,
                                      std::string_view after) {
    if (before == after) return {};
    auto a = lines_of(before);
    auto b = lines_of(after);
    std::vector<std::string> diff{"--- " + path, "+++ " + path};
    if (a.size() > kMaxCompared || b.size() > kMaxCompared) {
        diff.push_back(fmt::format("{} lines become {} lines", a.size(), b.size()));
        return diff;
    }
    const auto script = compare(a, b);
    const auto keep = shown(script);
    std::size_t old_line = 0;
    std::size_t new_line = 0;
    for (std::size_t i = 0; i < script.size(); ++i) {
        if (keep[i] && (i == 0 || !keep[i - 1])) {
            diff.push_back(hunk_header(script, keep, i, old_line, new_line));
        }
        if (keep[i]) diff.push_back(script[i].mark + std::string(script[i].text));
        if (script[i].mark != '+') ++old_line;
        if (script[i].mark != '-') ++new_line;
    }
    return diff;
}

std::vector<std::string> shorten_preview(std::vector<std::string> lines) {
    std::size_t bytes = 0;
    std::size_t shown_lines = 0;
    for (std::string& line : lines) {
        line = shortened(std::move(line));
        bytes += line.size();
        if (shown_lines == kMaxPreviewLines || bytes > kMaxPreviewBytes) break;
        ++shown_lines;
    }
    if (shown_lines == lines.size()) return lines;
    const std::size_t left_out = lines.size() - shown_lines;
    lines.resize(shown_lines);
    lines.push_back(fmt::format("... {} more lines", left_out));
    return lines;
}

}  // namespace kubexm::executor
