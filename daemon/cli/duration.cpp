#include "daemon/cli/duration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "daemon/base/text.hpp"
#include "daemon/model/command.hpp"

namespace kubexm::cli {

namespace {

struct DurationUnit {
    char letter;
    std::int64_t seconds;
};

constexpr std::array<DurationUnit, 4> kDurationUnits{
    {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}}};

}  // namespace

Result<std::chrono::seconds> duration_from(std::string_view text) {
    const auto wrong =
        fail(Code::invalid,
             fmt::format("duration: expected 90s, 30m, 2h or 1d, from 1s to 30d, found \"{:.32}\"",
                         printable(text)));
    if (text.size() < 2) return wrong;
    const auto* unit = std::ranges::find(kDurationUnits, text.back(), &DurationUnit::letter);
    if (unit == kDurationUnits.end()) return wrong;
    std::uint32_t count = 0;
    const std::string_view digits = text.substr(0, text.size() - 1);
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (error != std::errc{} || stop != digits.data() + digits.size() || count == 0) return wrong;
    const std::chrono::seconds duration(count * unit->seconds);
    if (duration > model::kLongestPause) return wrong;
    return duration;
}

}  // namespace kubexm::cli
