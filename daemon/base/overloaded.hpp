#pragma once

namespace kubexm {

/// Lambdas as the visitor of a variant; a missing alternative does not compile.
template <typename... Fs>
struct overloaded : Fs... {
    using Fs::operator()...;
};

}  // namespace kubexm
