#include "daemon/config/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "daemon/base/text.hpp"

namespace kubexm::config {

namespace {

constexpr std::size_t kMost = 20;  // a screen of them

}  // namespace

void Problems::begin_file(const std::string& name) { files_.push_back(name); }

void Problems::add(Mark at, std::string what, Code code) {
    if (found_.size() == kMost) {
        ++left_out_;
        return;
    }
    Problem problem{files_.size() - 1, at, std::move(what), code};
    const auto place = [](const Problem& one) { return std::tie(one.file, one.at); };
    const auto behind = std::ranges::upper_bound(found_, place(problem), {}, place);
    found_.insert(behind, std::move(problem));
}

std::string Problems::line_of(const Problem& problem) const {
    const std::string file = printable(files_[problem.file]);
    if (problem.at.line == 0) return fmt::format("{}: {}", file, problem.what);
    return fmt::format("{}:{}:{}: {}", file, problem.at.line, problem.at.column, problem.what);
}

std::unexpected<Error> Problems::error() const {
    std::string text;
    for (const Problem& problem : found_) {
        text += (text.empty() ? "" : "\n") + line_of(problem);
    }
    if (left_out_ > 0) text += fmt::format("\nand {} more", left_out_);
    return fail(found_.front().code, std::move(text));
}

}  // namespace kubexm::config
