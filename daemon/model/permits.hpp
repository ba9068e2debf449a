#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "daemon/base/names.hpp"
#include "daemon/model/allow.hpp"

namespace kubexm::model {

/// How much one of root's lists permits.
enum class Permit { any, listed, none };

/// Whom a host may trust, in words for a person: the lists themselves are root's.
struct Permits {
    Permit clusters = Permit::none;
    Permit registries = Permit::none;

    bool operator==(const Permits&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("clusters", self.clusters);
        visit("registries", self.registries);
    }
};

/// Pure.
Permits permits_of(const AllowList& allow);

}  // namespace kubexm::model

namespace kubexm {

template <>
struct Names<model::Permit> {
    static constexpr std::array<std::pair<model::Permit, std::string_view>, 3> kAll{{
        {model::Permit::any, "any"},
        {model::Permit::listed, "listed"},
        {model::Permit::none, "none"},
    }};
};

}  // namespace kubexm
