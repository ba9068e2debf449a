#include "daemon/executor/render/validation.hpp"

#include <fmt/format.h>

#include <set>

#include "daemon/base/refusal.hpp"

namespace kubexm::executor {

namespace {

// So many of the longest labels or taints fit into one program argument (128 KiB, MAX_ARG_STRLEN).
constexpr std::size_t kMaxKeys = 256;

}  // namespace

std::string element(std::string_view list, std::size_t index) {
    return fmt::format("{}[{}]", list, index);
}

void Validation::text(std::string_view place, std::string_view value, const Rule& rule) {
    that(rule.holds(value), place, rule.words);
}

void Validation::optional_text(std::string_view place, std::string_view value, const Rule& rule) {
    if (!value.empty()) text(place, value, rule);
}

void Validation::that(bool holds, std::string_view place, std::string_view expected) {
    if (holds || !outcome_) return;
    outcome_ =
        refusal("parameters", Code::invalid, fmt::format("{}: expected {}", place, expected));
}

void Validation::keys(std::string_view list, const std::vector<std::string>& keys) {
    that(keys.size() <= kMaxKeys, list, fmt::format("at most {} elements", kMaxKeys));
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < keys.size() && outcome_; ++i) {
        const bool is_new = seen.insert(keys[i]).second;
        that(is_new, element(list, i), fmt::format("{} only once in the list", keys[i]));
    }
}

}  // namespace kubexm::executor
