#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kubexm {

/// The words of an enum: a specialisation lists every value once, as pairs in `kAll`.
template <typename Enum>
struct Names;

template <typename Enum>
concept Named = requires { Names<Enum>::kAll; };

template <Named Enum>
constexpr std::string_view name_of(Enum value) {
    for (const auto& [candidate, name] : Names<Enum>::kAll) {
        if (candidate == value) return name;
    }
    return "";
}

template <Named Enum>
constexpr std::optional<Enum> from_name(std::string_view name) {
    for (const auto& [value, candidate] : Names<Enum>::kAll) {
        if (candidate == name) return value;
    }
    return std::nullopt;
}

/// "running, done, failed", for messages.
template <Named Enum>
std::string all_names() {
    std::string list;
    for (const auto& [value, name] : Names<Enum>::kAll) {
        if (!list.empty()) list += ", ";
        list += name;
    }
    return list;
}

}  // namespace kubexm
