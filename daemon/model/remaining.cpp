#include "daemon/model/remaining.hpp"

#include "daemon/base/codec.hpp"
#include "daemon/base/json.hpp"

namespace kubexm::model {

namespace {

constexpr std::size_t kMaxText = std::size_t{1} << 20U;

}  // namespace

std::string to_json(const std::vector<Remaining>& stays) {
    return stays.empty() ? "" : codec::encode(stays).dump();
}

Result<std::vector<Remaining>> remaining_from_json(std::string_view text) {
    std::vector<Remaining> stays;
    if (text.empty()) return stays;
    const auto list =
        TRY(parse_json(text, {.max_bytes = kMaxText, .max_depth = 4, .max_values = 10000}));
    TRY(codec::decode(list, stays, {"stays", {.string = 4096, .list = 1000}}));
    return stays;
}

}  // namespace kubexm::model
