#include "daemon/base/duration.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace kubexm {

namespace {

struct DurationUnit {
    char letter;
    std::int64_t seconds;
};

constexpr std::array<DurationUnit, 4> kDurationUnits{
    {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}}};

}  // namespace

std::optional<std::chrono::seconds> duration_in(std::string_view text) {
    constexpr std::chrono::years kMost{100};
    if (text.size() < 2) return std::nullopt;
    const auto* unit = std::ranges::find(kDurationUnits, text.back(), &DurationUnit::letter);
    if (unit == kDurationUnits.end()) return std::nullopt;
    std::uint32_t count = 0;
    const std::string_view digits = text.substr(0, text.size() - 1);
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error != std::errc{} || stop != digits.data() + digits.size()) return std::nullopt;
    const std::chrono::seconds duration(count * unit->seconds);
    return duration <= kMost ? std::optional(duration) : std::nullopt;
}

}  // namespace kubexm
