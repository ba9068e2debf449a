#include "daemon/model/remaining.hpp"

#include <algorithm>
#include <utility>

#include "daemon/base/codec.hpp"
#include "daemon/base/json.hpp"
#include "daemon/base/text.hpp"

namespace kubexm::model {

namespace {

constexpr std::size_t kMaxText = std::size_t{8} << 20U;
constexpr std::size_t kMostNamed = 500;
constexpr std::size_t kMostBytes = 1024;  // of each text, of which JSON makes six times as many

}  // namespace

bool frees_host(PlanState state, const std::vector<Remaining>& stays) {
    const bool is_stopped = state == PlanState::failed || state == PlanState::cancelled;
    const bool has_ended = state == PlanState::undone || (is_stopped && !stays.empty());
    return has_ended && std::ranges::none_of(stays, &Remaining::blocks_join);
}

std::string to_json(std::vector<Remaining> stays) {
    if (stays.empty()) return "";
    const std::size_t named = std::min(stays.size(), kMostNamed);
    const auto unnamed = static_cast<std::uint32_t>(stays.size() - named);
    stays.resize(named);
    for (Remaining& each : stays) {
        each.object = bounded_utf8(each.object, kMostBytes);
        each.why = bounded_utf8(each.why, kMostBytes);
    }
    return codec::encode(Stays{std::move(stays), unnamed}).dump();
}

Result<Stays> stays_from_json(std::string_view text) {
    Stays stays;
    if (text.empty()) return stays;
    const auto object =
        TRY(parse_json(text, {.max_bytes = kMaxText, .max_depth = 5, .max_values = 10000}));
    TRY(codec::decode(object, stays, {"stays", {.string = kMostBytes, .list = kMostNamed}}));
    return stays;
}

}  // namespace kubexm::model
