#pragma once

#include <string>
#include <vector>

#include "daemon/model/step.hpp"

namespace kubexm::plan {

inline constexpr const char* kPki = "/var/lib/kubelet/pki";
inline constexpr const char* kClientSeries = "kubelet-client";
inline constexpr const char* kServerSeries = "kubelet-server";

/// A certificate and its key in a file of their own, and the link by which kubelet finds the newest
/// one. The links have kubelet's own names, so that kubelet could take over rotation.
void add_pair(std::vector<model::Step>& steps, const std::string& series,
              const std::string& digest);

}  // namespace kubexm::plan
