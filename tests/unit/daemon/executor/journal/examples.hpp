#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "daemon/executor/journal/journal.hpp"

namespace kubexm::executor {

class FaultVfs;
class Scratch;

#define ASSERT_OK(expression)                           \
    do {                                                \
        const auto outcome_ = (expression);             \
        ASSERT_TRUE(outcome_) << outcome_.error().what; \
    } while (false)

inline PlanRecord plan_named(const std::string& id, const std::string& hash = "hash") {
    return {.id = id, .hash = hash, .owner = "owner", .document = R"({"id":")" + id + R"("})"};
}

inline LedgerEntry entry_for(const std::string& target, const std::string& owner = "owner") {
    return {.owner = owner,
            .type = "sysctl",
            .target = target,
            .step = "step of " + target,
            .pre_image = "before " + target};
}

/// Everything a journal can tell, but for times, which differ from run to run.
std::string content_of(Journal& journal);

/// Works of a journal one after the other, of every kind, with names for messages.
struct Work {
    std::string name;
    std::function<Result<>(Journal&)> act;
};
const std::vector<Work>& works();

/// What content_of() says after each number of works, from none to all.
std::vector<std::string> contents_after_works();

/// Does a work in a process whose disk fails right after the commit, and which then dies: what it
/// acknowledged is only in the log.
void commit_to_log_only(const Scratch& scratch, FaultVfs& vfs,
                        const std::function<Result<>(Journal&)>& work);

/// The limits under which works() drop old plans, ids and audit records.
inline constexpr Journal::Limits kNarrow{.finished_plans = 2, .known_ids = 2, .audit_records = 3};

}  // namespace kubexm::executor
