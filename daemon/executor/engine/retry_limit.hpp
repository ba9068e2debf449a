#pragma once

#include <cstdint>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/executor/journal/journal.hpp"

namespace kubexm::executor {

/// Whether a failure counts against the plan. A full disk and a service that does not answer do
/// not: the same plan may succeed later.
bool counts_as_failure(const Error& error);

/// Seconds until a plan that failed too often may be retried by a user other than root. 0 where the
/// clock was set back since: the age of the failure is unknown. Pure.
std::int64_t seconds_to_wait(const Journal::Failures& failures, std::int64_t now);

/// conflict: the plan with this hash reached the retry limit: it failed too often with the same
/// error within an hour. An undo has no limit: each attempt may restore more of the host.
Result<> check_retry_limit(Journal& journal, const std::string& hash);

}  // namespace kubexm::executor
