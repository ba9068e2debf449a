#pragma once

#include <concepts>

namespace kubexm {

/// Lambdas as the visitor of a variant; a missing alternative does not compile.
template <typename... Fs>
struct overloaded : Fs... {
    using Fs::operator()...;
};

/// For the alternatives that are treated alike: a list, so that a new one does not compile.
template <typename T, typename... Types>
concept OneOf = (std::same_as<T, Types> || ...);

}  // namespace kubexm
