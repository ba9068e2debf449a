#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "daemon/loop/loop.hpp"

namespace kubexm {

constexpr std::chrono::seconds kDeadline(20);  // reached only by a failing test
constexpr int kTooLate = 124;                  // exit code of a loop that reached its deadline

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

/// Runs the loop until stop() or the deadline.
inline int run(Loop& loop) {
    const auto deadline = must(loop.after(kDeadline, [&loop] { loop.stop(kTooLate); }));
    return must(loop.run());
}

}  // namespace kubexm
