#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/executor/journal/journal.hpp"
#include "examples.hpp"
#include "fault_vfs.hpp"
#include "scratch.hpp"

namespace kubexm::executor {
namespace {

using testing::Each;
using testing::Field;
using testing::SizeIs;

constexpr Journal::Limits kLimits{
    .finished_plans = 50, .known_ids = 500, .audit_records = 400, .audit_seconds = 0};

/// One plan with a new object, which is undone at the end.
void run_plan(Journal& journal, int number) {
    const std::string id = fmt::format("plan-{}", number);
    PlanRecord plan = plan_named(id, fmt::format("hash-{}", number));
    plan.document = std::string(static_cast<std::size_t>(1000 + number % 7 * 1000), 'd');
    ASSERT_OK(journal.begin(plan, 2));
    ASSERT_OK(prepare(journal, id, step_for(fmt::format("object-{}", number))));
    ASSERT_OK(finish(journal, id, 0, StepState::done));
    ASSERT_OK(journal.end(id, {PlanState::failed, "why"}));
    ASSERT_OK(undo(journal, id, (*journal.ledger(""))[0].sequence));
    ASSERT_OK(journal.audit(0, 1, "plan failed", id));
}

TEST(Growth, IsBoundedOverThousandsOfPlans) {
    const FaultVfs fast;
    const Scratch scratch;
    auto journal = Journal::open(scratch.path(), kLimits);
    ASSERT_TRUE(journal) << journal.error().what;
    const auto size = [&] { return std::filesystem::file_size(scratch.file("journal.db")); };
    for (int number = 0; number < 1000; ++number) run_plan(*journal, number);
    const auto grown = size();
    for (int number = 1000; number < 3000; ++number) run_plan(*journal, number);
    EXPECT_LE(size(), grown + grown / 20);
    EXPECT_EQ(std::filesystem::file_size(scratch.file("journal.db-wal")), 0U);

    EXPECT_THAT(*journal->history(10000), SizeIs(kLimits.finished_plans));
    EXPECT_THAT(*journal->history(10000), Each(Field(&PlanRecord::steps, SizeIs(2))));
    EXPECT_THAT(*journal->audit_trail(10000), SizeIs(kLimits.audit_records));
    ASSERT_OK(journal->verify());
    // The ids of dropped plans stay known, up to the limit.
    EXPECT_EQ(journal->plan("plan-2700").error().code, Code::not_found);
    EXPECT_EQ(journal->begin(plan_named("plan-2700"), 1).error().code, Code::conflict);
    EXPECT_EQ(journal->begin(plan_named("plan-2451"), 1).error().code, Code::conflict);
    EXPECT_TRUE(journal->begin(plan_named("plan-2449"), 1));
    // There are counts for as many hashes as finished plans.
    EXPECT_EQ(journal->failures("hash-2999", "why")->count, 1U);
    EXPECT_EQ(journal->failures("hash-2949", "why")->count, 0U);
}

TEST(Growth, OutcomesOfOwnersWithObjectsAreNeverDropped) {
    const FaultVfs fast;
    const Scratch scratch;
    auto journal = Journal::open(scratch.path(), {.finished_plans = 2, .outcomes = 5});
    ASSERT_TRUE(journal) << journal.error().what;
    ASSERT_OK(journal->begin(plan_named("join-1"), 1));
    ASSERT_OK(prepare(*journal, "join-1", step_for("object")));
    ASSERT_OK(journal->end("join-1", {PlanState::done, ""}));
    for (int number = 0; number < 20; ++number) {
        PlanRecord plan = plan_named(fmt::format("p{}", number));
        plan.owner = fmt::format("root-{}", number);
        ASSERT_OK(journal->begin(plan, 0));
        ASSERT_OK(journal->end(plan.id, {PlanState::done, ""}));
    }
    const auto outcomes = *journal->outcomes();
    EXPECT_THAT(outcomes, SizeIs(6));
    EXPECT_EQ(outcomes.front().owner, "root-19");
    EXPECT_EQ(outcomes.back().plan_id, "join-1");
}

TEST(Growth, OthersDoNotPushOutThePlansOfRoot) {
    const FaultVfs fast;
    const Scratch scratch;
    auto journal =
        Journal::open(scratch.path(), {.finished_plans = 2, .outcomes = 2, .known_ids = 4});
    ASSERT_TRUE(journal) << journal.error().what;
    const auto run = [&](const std::string& id, std::uint32_t uid) {
        PlanRecord plan = plan_named(id);
        plan.owner = id;
        plan.uid = uid;
        ASSERT_OK(journal->begin(plan, 0));
        ASSERT_OK(journal->end(id, {PlanState::done, ""}));
    };
    for (const char* id : {"root-1", "root-2", "root-3"}) run(id, 0);
    for (int number = 0; number < 20; ++number) run(fmt::format("other-{}", number), 998);
    EXPECT_TRUE(journal->plan("root-3"));
    EXPECT_FALSE(journal->plan("root-1")) << "root has two newer ones";
    EXPECT_EQ(journal->is_new("root-1").error().code, Code::conflict);
    EXPECT_TRUE(journal->is_new("other-0")) << "others have more newer ones than are known";
    EXPECT_THAT(*journal->outcomes(), testing::Contains(Field(&OutcomeRecord::owner, "root-3")));
    EXPECT_THAT(*journal->outcomes(), SizeIs(4));
}

/// In a week kubexmd can cause 168,000 offers, which are half as long, and 450,000 other records at
/// most: less than 400 MB, as SECURITY.md says.
TEST(Growth, OfTheAuditIsSmallForEachRecord) {
    const FaultVfs fast;
    const Scratch scratch;
    auto journal = Journal::open(scratch.path(), {});
    ASSERT_TRUE(journal) << journal.error().what;
    const auto size = [&] { return std::filesystem::file_size(scratch.file("journal.db")); };
    const auto before = size();
    constexpr int kRecords = 1000;
    for (int number = 0; number < kRecords; ++number) {
        ASSERT_OK(journal->audit(998, 4194304, "plan cancelled", std::string(512, 'x')));
    }
    EXPECT_LE((size() - before) / kRecords, 700U);
}

TEST(Growth, NoPlansPushOutTheMachineThatRootReleased) {
    const FaultVfs fast;
    const Scratch scratch;
    auto journal = Journal::open(scratch.path(), {.finished_plans = 2, .outcomes = 5});
    ASSERT_TRUE(journal) << journal.error().what;
    const auto run = [&](const std::string& id, const std::string& owner, std::uint32_t uid) {
        PlanRecord plan = plan_named(id);
        plan.owner = owner;
        plan.uid = uid;
        plan.purpose = PlanPurpose::release;
        ASSERT_OK(journal->begin(plan, 0));
        ASSERT_OK(journal->end(id, {PlanState::undone, ""}));
    };
    run("undo-1", "machine-1", 0);
    for (int number = 0; number < 100; ++number) {
        run(fmt::format("root-{}", number), fmt::format("owner-{}", number), 0);
        run(fmt::format("other-{}", number), fmt::format("machine-other-{}", number), 998);
    }
    const auto outcomes = *journal->outcomes();
    EXPECT_EQ(outcomes.back().owner, "machine-1");
    EXPECT_THAT(outcomes, SizeIs(1 + 5 + 5)) << "and all of it is bounded";
}

TEST(Growth, DeletedContentIsErasedFromTheFiles) {
    const Scratch scratch;
    const auto bytes = [&] {
        return bytes_of(scratch.file("journal.db")) + bytes_of(scratch.file("journal.db-wal"));
    };
    {
        auto journal = Journal::open(scratch.path(), {});
        ASSERT_TRUE(journal);
        ASSERT_OK(journal->begin(plan_named("p1"), 1));
        ASSERT_OK(prepare(*journal, "p1", step_for("a-very-special-object")));
        ASSERT_THAT(bytes(), testing::HasSubstr("a-very-special"));
        ASSERT_OK(undo(*journal, "p1", 1));
        ASSERT_OK(journal->end("p1", {PlanState::undone, ""}));
        EXPECT_THAT(bytes(), testing::Not(testing::HasSubstr("a-very-special")));
    }
    EXPECT_THAT(bytes(), testing::Not(testing::HasSubstr("a-very-special")));
}

}  // namespace
}  // namespace kubexm::executor
