#pragma once

#include <string>

#include "daemon/model/snapshot.hpp"

namespace kubexm::api {

// A Snapshot as the JSON of api/openapi.yaml. Members are sorted, indented, and nothing but ASCII
// leaves here: a terminal can be shown the text as it is. Bytes that are no UTF-8 are replaced.

std::string status_json(const model::Snapshot& snapshot);
std::string plan_json(const model::PlanView& plan);

/// What RFC 9457 calls a problem.
std::string problem_json(int status, const std::string& title, const std::string& detail);

}  // namespace kubexm::api
