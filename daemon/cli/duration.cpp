#include "daemon/cli/duration.hpp"

#include <fmt/format.h>

#include "daemon/base/duration.hpp"
#include "daemon/base/text.hpp"
#include "daemon/model/command.hpp"

namespace kubexm::cli {

Result<std::chrono::seconds> duration_from(std::string_view text) {
    const auto duration = duration_in(text);
    if (duration && duration->count() > 0 && *duration <= model::kLongestPause) return *duration;
    return fail(
        Code::invalid,
        fmt::format("duration: expected 90s, 30m, 2h or 1d, from 1s to 30d, found \"{:.32}\"",
                    printable(text)));
}

}  // namespace kubexm::cli
