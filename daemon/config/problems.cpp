#include "daemon/config/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "daemon/base/text.hpp"

namespace kubexm::config {

namespace {

constexpr std::size_t kMaxProblems = 20;  // about a screen

std::string place_of(const std::string& file, yaml::Mark at) {
    if (at.line == 0) return printable(file);
    return fmt::format("{}:{}:{}", printable(file), at.line, at.column);
}

}  // namespace

void Problems::begin_file(const std::string& name) { files_.push_back(name); }

void Problems::add(yaml::Mark at, const std::string& what) {
    insert({files_.size() - 1, at, {Code::invalid, place_of(file(), at) + ": " + what}});
}

void Problems::add(const Error& error) {
    insert({files_.size() - 1, {}, {error.code, printable(error.what)}});
}

void Problems::insert(Problem problem) {
    if (found_.size() == kMaxProblems) {
        ++omitted_;
        return;
    }
    const auto order = [](const Problem& one) { return std::tie(one.file, one.at); };
    const auto behind = std::ranges::upper_bound(found_, order(problem), {}, order);
    found_.insert(behind, std::move(problem));
}

std::unexpected<Error> Problems::error() const {
    std::string text;
    for (const Problem& problem : found_) {
        text += (text.empty() ? "" : "\n") + problem.error.what;
    }
    if (omitted_ > 0) text += fmt::format("\nand {} more", omitted_);
    return fail(found_.front().error.code, std::move(text));
}

}  // namespace kubexm::config
