#pragma once

#include <cstdint>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/executor/journal/journal.hpp"

namespace kubexm::executor {

/// Whether a failure says something about the plan. A full disk and a host that does not answer
/// pass by themselves, and the same plan may well succeed then.
bool counts_as_failure(const Error& error);

/// How long nobody but root may try again what failed the same way too often, in seconds. None
/// where the clock was set back since: nobody knows how long ago it was. Pure.
std::int64_t seconds_to_wait(const Journal::Failures& failures, std::int64_t now);

/// conflict: the plan with this hash failed the same way too often within the hour. An undo is
/// never given up: somebody waits for the host, and every try may take back more.
Result<> check_retry_limit(Journal& journal, const std::string& hash);

}  // namespace kubexm::executor
