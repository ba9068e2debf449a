#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "daemon/executor/journal/journal.hpp"

namespace kubexm::executor {

inline constexpr std::size_t kPage = 4096;  // of the database

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

inline PreparedStep step_for(const std::string& target, std::uint32_t index = 0) {
    return {.index = index,
            .type = "sysctl",
            .target = target,
            .step = "step of " + target,
            .written = "content of " + target,
            .pre_image = "before " + target};
}

inline Result<> prepare(Journal& journal, const std::string& plan, const PreparedStep& step) {
    return journal.record(plan, {.prepared = {step}});
}

inline Result<> finish(Journal& journal, const std::string& plan, std::uint32_t index,
                       StepState state, const std::string& error = "") {
    return journal.record(plan, {.ended = {{index, state, error}}});
}

inline Result<> undo(Journal& journal, const std::string& plan, std::int64_t sequence) {
    return journal.undone(plan, {{sequence}});
}

/// All records of a journal as text, without times, which differ from run to run.
std::string content_of(Journal& journal);

/// A change of a journal; the name is for messages.
struct Action {
    std::string name;
    std::function<Result<>(Journal&)> act;
};
/// Changes of every kind, in an order that is valid.
const std::vector<Action>& actions();

/// content_of() after each number of actions, from none to all.
std::vector<std::string> contents_after_actions();

/// Runs an action in a process whose disk fails right after the commit and which then exits: the
/// change is in the log only.
void commit_to_log_only(const Scratch& scratch, FaultVfs& vfs,
                        const std::function<Result<>(Journal&)>& act);

/// Limits that make actions() drop old plans, ids and audit records.
inline constexpr Journal::Limits kNarrow{
    .finished_plans = 2, .known_ids = 2, .audit_records = 3, .audit_seconds = 0};

}  // namespace kubexm::executor
