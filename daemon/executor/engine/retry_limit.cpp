#include "daemon/executor/engine/retry_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "daemon/base/refusal.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::executor {

namespace {

constexpr std::uint32_t kMaxFailures = 3;
constexpr std::int64_t kResetSeconds = 3600;
constexpr std::uint32_t kAllRecords = 200;  // as many as the journal keeps

}  // namespace

bool counts_as_failure(const Error& error) {
    return error.code != Code::exhausted && error.code != Code::unavailable;
}

std::int64_t seconds_to_wait(const Journal::Failures& failures, std::int64_t now) {
    if (failures.count < kMaxFailures || failures.last_at > now) return 0;
    return std::max<std::int64_t>(0, failures.last_at + kResetSeconds - now);
}

Result<> check_retry_limit(Journal& journal, const std::string& hash) {
    const auto past = TRY(journal.history(kAllRecords));
    const auto last = std::ranges::find_if(past, [&](const PlanRecord& record) {
        return record.hash == hash && record.purpose != PlanPurpose::release && record.failures > 0;
    });
    if (last == past.end()) return {};
    const auto failures = TRY(journal.failures(hash, last->last_error));
    const std::int64_t wait = seconds_to_wait(failures, std::time(nullptr));
    if (wait == 0) return {};
    return refusal(
        "retry-limit", Code::conflict,
        fmt::format("retry limit: the plan failed {} times with the same error ({}); change the "
                    "plan, apply it as root, or retry in {} minutes",
                    failures.count, last->last_error, (wait + 59) / 60));
}

}  // namespace kubexm::executor
