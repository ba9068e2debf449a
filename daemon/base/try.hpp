#pragma once

#include <utility>

#include "daemon/base/error.hpp"

// TRY(call): the value of a Result, or return its error to the caller.
//
//     const auto text = TRY(read_file(path, kMaxBytes));
//     TRY(check(text));
//
// Use it as a whole statement or as a whole initialiser. A return in the middle of a larger
// expression would leave that expression's temporaries without their destructors.

namespace kubexm {

/// For TRY: a value that may be ignored.
template <typename T, typename E>
T value_of(std::expected<T, E>&& result) {
    return *std::move(result);
}

}  // namespace kubexm

#define KUBEXM_TRY_AS(result, ...)                                      \
    __extension__({                                                     \
        auto result = (__VA_ARGS__);                                    \
        if (!result) return std::unexpected(std::move(result).error()); \
        ::kubexm::value_of(std::move(result));                          \
    })
#define KUBEXM_JOIN_(left, right) left##right
#define KUBEXM_JOIN(left, right) KUBEXM_JOIN_(left, right)
#define TRY(...) KUBEXM_TRY_AS(KUBEXM_JOIN(try_result_, __COUNTER__), __VA_ARGS__)
