#pragma once

#include <string_view>

namespace kubexm {

/// The words of a closed choice: a specialisation lists every value once, as pairs in `kAll`.
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

}  // namespace kubexm
