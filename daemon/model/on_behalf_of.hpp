#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "daemon/base/names.hpp"

namespace kubexm::model {

/// Where an order came in at kubexmd.
enum class Origin { control, management };

/// Who gave an order to the client, by its own word: audited, never used for a decision.
struct OnBehalfOf {
    std::uint32_t uid = 0;
    Origin origin = Origin::control;

    bool operator==(const OnBehalfOf&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("uid", self.uid);
        visit("origin", self.origin);
    }
};

}  // namespace kubexm::model

namespace kubexm {

template <>
struct Names<model::Origin> {
    static constexpr std::array<std::pair<model::Origin, std::string_view>, 2> kAll{{
        {model::Origin::control, "control"},
        {model::Origin::management, "management"},
    }};
};

}  // namespace kubexm
