#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "daemon/loop/loop.hpp"

namespace kubexm {

constexpr std::chrono::seconds kDeadline(20);  // for what must happen; reached only in a failure
constexpr int kTooLate = 124;                  // the code of a loop that met its deadline

inline Loop make_loop() {
    auto loop = Loop::create();
    if (!loop) throw std::runtime_error(loop.error().what);
    return std::move(*loop);
}

template <typename T>
T must(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().what);
    return std::move(*result);
}

/// Runs the loop to its stop(), or to the deadline.
inline int run(Loop& loop) {
    const auto deadline = must(loop.after(kDeadline, [&loop] { loop.stop(kTooLate); }));
    return must(loop.run());
}

}  // namespace kubexm
