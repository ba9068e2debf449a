#include "daemon/executor/engine/retry_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace kubexm::executor {

namespace {

constexpr std::uint32_t kTries = 3;
constexpr std::int64_t kRearmSeconds = 3600;
constexpr std::uint32_t kPlansKept = 200;  // by the journal

}  // namespace

bool counts_as_failure(const Error& error) {
    return error.code != Code::exhausted && error.code != Code::unavailable;
}

std::int64_t seconds_to_wait(const Journal::Failures& failures, std::int64_t now) {
    if (failures.count < kTries || failures.last_at > now) return 0;
    return std::max<std::int64_t>(0, failures.last_at + kRearmSeconds - now);
}

Result<> check_retry_limit(Journal& journal, const std::string& hash) {
    auto past = journal.history(kPlansKept);
    if (!past) return std::unexpected(past.error());
    const auto last = std::find_if(past->begin(), past->end(), [&](const PlanRecord& record) {
        return record.hash == hash && !record.undoing && record.failures > 0;
    });
    if (last == past->end()) return {};
    auto failures = journal.failures(hash, last->last_error);
    if (!failures) return std::unexpected(failures.error());
    const std::int64_t wait = seconds_to_wait(*failures, std::time(nullptr));
    if (wait == 0) return {};
    return fail(
        Code::conflict,
        fmt::format("this plan failed {} times the same way ({}); it is tried again when its "
                    "input changes, when root asks, or in {} minutes",
                    failures->count, last->last_error, (wait + 59) / 60));
}

}  // namespace kubexm::executor
