#pragma once

#include <charconv>

#include "daemon/base/codec.hpp"
#include "daemon/model/plan.hpp"
#include "daemon/model/step.hpp"
#include "daemon/model/step_names.hpp"

// Overloads for types that are not plain structs; found by argument-dependent lookup.

namespace kubexm::model {

inline nlohmann::json encode(const Mode& mode) { return fmt::format("{:04o}", mode.bits); }

inline Result<> decode(const nlohmann::json& from, Mode& to, const codec::JsonPlace& where) {
    constexpr std::size_t kDigits = 4;
    const auto* text = from.get_ptr<const std::string*>();
    if (text != nullptr && text->size() == kDigits) {
        const char* end = text->data() + kDigits;
        const auto [stop, error] = std::from_chars(text->data(), end, to.bits, 8);
        if (error == std::errc{} && stop == end) return {};
    }
    return codec::expected_here(where.path, "a mode such as \"0644\"");
}

/// A plan as a member of a larger document.
nlohmann::json encode(const Plan& plan);
Result<> decode(const nlohmann::json& from, Plan& to, const codec::JsonPlace& where);

}  // namespace kubexm::model
