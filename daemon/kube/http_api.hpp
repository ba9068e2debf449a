#pragma once

#include <chrono>
#include <memory>

#include "daemon/kube/api.hpp"

namespace kubexm::kube {

inline constexpr std::chrono::milliseconds kDeadline = std::chrono::seconds(30);

/// Api::create() with another deadline, for tests.
Result<std::unique_ptr<Api>> make_api(Loop& loop, ClusterCredentials credentials,
                                      std::chrono::milliseconds deadline);

}  // namespace kubexm::kube
