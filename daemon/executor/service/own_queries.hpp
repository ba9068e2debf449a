#pragma once

#include <cstdint>

namespace kubexm::executor {

/// The user of queries that the executor makes for itself: clients cannot fill that queue.
inline constexpr std::uint32_t kOwnQueries = UINT32_MAX;

}  // namespace kubexm::executor
