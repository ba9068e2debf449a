#pragma once

#include <string>

#include "daemon/model/snapshot.hpp"

namespace kubexm::api {

// A Snapshot as the JSON of api/openapi.yaml: sorted members, indented, ASCII only, so that it is
// safe to print on a terminal. Invalid UTF-8 is replaced.

std::string status_json(const model::Snapshot& snapshot);
std::string certificates_json(const std::vector<model::CertificateView>& certificates);
std::string plan_json(const model::PlanView& plan);

/// A command that was accepted.
std::string operation_json(const std::string& id, const std::string& decision);

/// A problem of RFC 9457.
std::string problem_json(int status, const std::string& title, const std::string& detail);

}  // namespace kubexm::api
