#include "daemon/executor/journal/journal.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "examples.hpp"
#include "scratch.hpp"

namespace kubexm::executor {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class JournalTest : public testing::Test {
protected:
    Journal& journal() { return *journal_; }
    void reopen() {
        journal_ = fail(Code::internal, "closed");
        journal_ = Journal::open(scratch_.path(), limits_);
        ASSERT_TRUE(journal_) << journal_.error().what;
    }
    LedgerEntry entry(const std::string& target) {
        return journal().ledger_entry("sysctl", target)->value_or(LedgerEntry{});
    }
    /// A plan of one step from beginning to end.
    void run(const std::string& id, const std::string& hash, PlanState state,
             const std::string& error) {
        ASSERT_OK(journal().begin(plan_named(id, hash), 1));
        ASSERT_OK(journal().end(id, {state, error}));
    }

    Scratch scratch_;
    Journal::Limits limits_;
    Result<Journal> journal_ = Journal::open(scratch_.path(), limits_);
};

std::int64_t seconds_now() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

TEST_F(JournalTest, APlanBeginsRunningWithEveryStepPending) {
    const std::int64_t before = seconds_now();
    ASSERT_OK(journal().begin(plan_named("p1"), 2));
    reopen();
    const PlanRecord running = journal().running()->value_or(PlanRecord{});
    EXPECT_EQ(running.id, "p1");
    EXPECT_EQ(running.hash, "hash");
    EXPECT_EQ(running.owner, "owner");
    EXPECT_EQ(running.document, R"({"id":"p1"})");
    EXPECT_GE(running.started_at, before);
    EXPECT_LE(running.started_at, seconds_now());
    EXPECT_THAT(
        running.steps,
        ElementsAre(
            AllOf(Field(&StepRecord::index, 0U), Field(&StepRecord::state, StepState::pending)),
            AllOf(Field(&StepRecord::index, 1U), Field(&StepRecord::state, StepState::pending))));
}

TEST_F(JournalTest, AnIdIsAcceptedOnce) {
    run("p1", "hash", PlanState::done, "");
    const auto again = journal().begin(plan_named("p1"), 1);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, Code::conflict);
    EXPECT_THAT(again.error().what, HasSubstr("p1"));
}

TEST_F(JournalTest, OnlyOnePlanRuns) {
    ASSERT_OK(journal().begin(plan_named("p1"), 1));
    const auto second = journal().begin(plan_named("p2"), 1);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::conflict);
    EXPECT_THAT(second.error().what, HasSubstr("p1 is still running"));
    ASSERT_OK(journal().end("p1", {PlanState::cancelled, ""}));
    ASSERT_OK(journal().begin(plan_named("p2"), 1));
}

PlanRecord plan_for(const std::string& id, const std::string& owner, PlanPurpose purpose) {
    PlanRecord plan = plan_named(id);
    plan.owner = owner;
    plan.purpose = purpose;
    plan.wanted = "wanted by " + id;
    plan.uid = 990;
    return plan;
}

TEST_F(JournalTest, TheNewestPlanOfAnOwnerAndAPurposeStaysKnown) {
    ASSERT_OK(journal().begin(plan_for("join-1", "machine-1", PlanPurpose::join), 0));
    ASSERT_OK(journal().end("join-1", {PlanState::done, ""}));
    ASSERT_OK(journal().begin(plan_for("renew-1", "machine-1", PlanPurpose::renew), 0));
    ASSERT_OK(journal().end("renew-1", {PlanState::failed, "no"}));
    ASSERT_OK(journal().begin(plan_for("renew-2", "machine-1", PlanPurpose::renew), 0));
    reopen();
    const auto outcomes = journal().outcomes();
    ASSERT_TRUE(outcomes) << outcomes.error().what;
    EXPECT_THAT(*outcomes, ElementsAre(AllOf(Field(&OutcomeRecord::plan_id, "renew-2"),
                                             Field(&OutcomeRecord::state, PlanState::running)),
                                       AllOf(Field(&OutcomeRecord::plan_id, "join-1"),
                                             Field(&OutcomeRecord::state, PlanState::done),
                                             Field(&OutcomeRecord::wanted, "wanted by join-1"),
                                             Field(&OutcomeRecord::uid, 990U))));
}

TEST_F(JournalTest, ThePlanThatWasDoneStaysKnownBesideOneThatFailed) {
    ASSERT_OK(journal().begin(plan_for("join-1", "machine-1", PlanPurpose::join), 0));
    ASSERT_OK(journal().end("join-1", {PlanState::done, ""}));
    ASSERT_OK(journal().begin(plan_for("join-2", "machine-1", PlanPurpose::join), 0));
    ASSERT_OK(journal().end("join-2", {PlanState::cancelled, ""}));
    ASSERT_OK(journal().begin(plan_for("join-3", "machine-1", PlanPurpose::join), 0));
    ASSERT_OK(journal().end("join-3", {PlanState::failed, "no"}));
    reopen();
    EXPECT_THAT(*journal().outcomes(), ElementsAre(Field(&OutcomeRecord::plan_id, "join-3"),
                                                   Field(&OutcomeRecord::plan_id, "join-1")));
    ASSERT_OK(journal().begin(plan_for("join-4", "machine-1", PlanPurpose::join), 0));
    ASSERT_OK(journal().end("join-4", {PlanState::done, ""}));
    EXPECT_THAT(*journal().outcomes(), ElementsAre(Field(&OutcomeRecord::plan_id, "join-4")));
}

TEST_F(JournalTest, HowAnUndoEndedIsKnownUntilTheNextOneHasEnded) {
    const auto newest = [&] { return journal().outcomes().value().front(); };
    for (const PlanState ended : {PlanState::failed, PlanState::cancelled, PlanState::undone}) {
        const std::string first = fmt::format("u-{}", name_of(ended));
        ASSERT_OK(journal().begin(plan_for("join for " + first, "o", PlanPurpose::join), 0));
        ASSERT_OK(journal().end("join for " + first, {PlanState::done, ""}));
        ASSERT_OK(journal().begin(plan_for(first, "o", PlanPurpose::release), 0));
        EXPECT_EQ(newest().state, PlanState::running) << "after a join";
        ASSERT_OK(journal().end(first, {ended, "", "what stays"}));
        ASSERT_OK(journal().begin(plan_for("again " + first, "o", PlanPurpose::release), 0));
        EXPECT_EQ(newest().plan_id, first);
        EXPECT_EQ(newest().stays, "what stays");
        ASSERT_OK(journal().end("again " + first, {PlanState::undone, ""}));
        EXPECT_EQ(newest().plan_id, "again " + first);
    }
}

TEST_F(JournalTest, UnknownRecordsAreNotFound) {
    ASSERT_OK(journal().begin(plan_named("p1"), 1));
    EXPECT_EQ(journal().plan("p2").error().code, Code::not_found);
    EXPECT_EQ(journal().end("p2", {PlanState::done, ""}).error().code, Code::not_found);
    EXPECT_EQ(finish(journal(), "p1", 1, StepState::done).error().code, Code::not_found);
    EXPECT_EQ(prepare(journal(), "p2", step_for("x")).error().code, Code::not_found);
    EXPECT_EQ(undo(journal(), "p1", 1).error().code, Code::not_found);
    EXPECT_EQ(journal().reapplying(1, "", "").error().code, Code::not_found);
    EXPECT_THAT(*journal().ledger(""), IsEmpty());
}

TEST_F(JournalTest, HistoryIsNewestFirstAndLimited) {
    for (const char* id : {"p1", "p2", "p3"}) run(id, "hash", PlanState::done, "");
    EXPECT_THAT(*journal().history(2),
                ElementsAre(Field(&PlanRecord::id, "p3"), Field(&PlanRecord::id, "p2")));
}

TEST_F(JournalTest, APlanRecordsHowItEnded) {
    ASSERT_OK(journal().begin(plan_named("p1"), 2));
    ASSERT_OK(finish(journal(), "p1", 0, StepState::skipped));
    ASSERT_OK(finish(journal(), "p1", 1, StepState::failed, "no such unit"));
    ASSERT_OK(journal().end("p1", {PlanState::failed, "step 1: no such unit"}));
    reopen();
    const auto plan = journal().plan("p1");
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->state, PlanState::failed);
    EXPECT_EQ(plan->last_error, "step 1: no such unit");
    EXPECT_EQ(plan->steps[0].state, StepState::skipped);
    EXPECT_EQ(plan->steps[1].state, StepState::failed);
    EXPECT_EQ(plan->steps[1].error, "no such unit");
    EXPECT_FALSE(*journal().running());
}

// --- failures in a row

TEST_F(JournalTest, FailuresWithTheSameErrorAreCounted) {
    run("p1", "h", PlanState::failed, "disk");
    run("p2", "h", PlanState::failed, "disk");
    run("p3", "other", PlanState::failed, "disk");
    EXPECT_EQ(journal().failures("h", "disk")->count, 2U);
    EXPECT_EQ(journal().plan("p2")->failures, 2U);
    EXPECT_GE(journal().failures("h", "disk")->last_at, seconds_now() - 60);
    EXPECT_EQ(journal().failures("h", "network")->count, 0U);
}

TEST_F(JournalTest, AnotherErrorResetsTheCount) {
    run("p1", "h", PlanState::failed, "disk");
    run("p2", "h", PlanState::failed, "network");
    EXPECT_EQ(journal().failures("h", "disk")->count, 0U);
    run("p3", "h", PlanState::failed, "disk");
    EXPECT_EQ(journal().failures("h", "disk")->count, 1U);
}

TEST_F(JournalTest, SuccessResetsTheCountAndCancellingDoesNot) {
    run("p1", "h", PlanState::failed, "disk");
    run("p2", "h", PlanState::cancelled, "");
    EXPECT_EQ(journal().failures("h", "disk")->count, 1U);
    run("p3", "h", PlanState::done, "");
    EXPECT_EQ(journal().failures("h", "disk")->count, 0U);
}

TEST_F(JournalTest, AFailureThatDoesNotCountChangesNothing) {
    run("p1", "h", PlanState::failed, "disk");
    ASSERT_OK(journal().begin(plan_named("p2", "h"), 1));
    ASSERT_OK(journal().end("p2", {PlanState::failed, "full", "", false}));
    EXPECT_EQ(journal().plan("p2")->state, PlanState::failed);
    EXPECT_EQ(journal().plan("p2")->failures, 0U);
    EXPECT_EQ(journal().failures("h", "disk")->count, 1U);
    EXPECT_EQ(journal().failures("h", "full")->count, 0U);
}

TEST_F(JournalTest, AFailedUndoIsNotCounted) {
    PlanRecord undo = plan_named("p1", "h");
    undo.purpose = PlanPurpose::release;
    ASSERT_OK(journal().begin(undo, 0));
    ASSERT_OK(journal().end("p1", {PlanState::failed, "disk"}));
    EXPECT_EQ(journal().failures("h", "disk")->count, 0U);
}

TEST_F(JournalTest, LongErrorsAreComparedAfterClipping) {
    const std::string error(10000, 'x');
    run("p1", "h", PlanState::failed, error);
    run("p2", "h", PlanState::failed, error);
    EXPECT_EQ(journal().plan("p1")->last_error.size(), 4096U);
    EXPECT_EQ(journal().failures("h", error)->count, 2U);
}

TEST_F(JournalTest, ATextIsNeverCutWithinACharacter) {
    // A character of three bytes across the limit of 4096.
    run("p1", "h", PlanState::failed, std::string(4094, 'x') + "\xe2\x82\xac");
    EXPECT_EQ(journal().plan("p1")->last_error, std::string(4094, 'x'));
}

// --- ledger

/// The owners of an object and their steps.
std::vector<std::pair<std::string, std::string>> owners_of(const LedgerEntry& entry) {
    std::vector<std::pair<std::string, std::string>> found;
    found.reserve(entry.owners.size());
    for (const LedgerOwner& owner : entry.owners) found.emplace_back(owner.owner, owner.step);
    return found;
}

class LedgerTest : public JournalTest {
protected:
    /// A plan that leaves one object in this state.
    void apply(const std::string& id, const std::string& owner, const PreparedStep& step) {
        ASSERT_OK(journal().begin(plan_for(id, owner, PlanPurpose::prepare), 1));
        ASSERT_OK(prepare(journal(), id, step));
        ASSERT_OK(finish(journal(), id, 0, StepState::done));
        ASSERT_OK(journal().end(id, {PlanState::done, ""}));
    }
    PreparedStep another(const std::string& target, const std::string& step) {
        PreparedStep made = step_for(target);
        made.step = step;
        made.pre_image = "as another plan left it";
        return made;
    }
};

TEST_F(LedgerTest, AnObjectHasSeveralOwnersAndItsFirstPreImage) {
    apply("p1", "host", step_for("vm.swappiness"));
    apply("p2", "cluster", another("vm.swappiness", "another step"));
    reopen();
    const LedgerEntry found = entry("vm.swappiness");
    EXPECT_EQ(found.pre_image, "before vm.swappiness");
    EXPECT_EQ(found.applied, "another step");
    EXPECT_THAT(owners_of(found), ElementsAre(std::pair("host", "step of vm.swappiness"),
                                              std::pair("cluster", "another step")));
    EXPECT_THAT(*journal().ledger("host"), SizeIs(1));
    EXPECT_THAT(*journal().ledger("cluster"), SizeIs(1));
    EXPECT_THAT(*journal().ledger(""), SizeIs(1));
}

TEST_F(LedgerTest, AnEntryGoesWithItsLastOwner) {
    apply("p1", "host", step_for("a"));
    apply("p2", "cluster", step_for("a"));
    ASSERT_OK(undo(journal(), "p1", entry("a").sequence));
    EXPECT_THAT(owners_of(entry("a")), ElementsAre(std::pair("cluster", "step of a")));
    EXPECT_EQ(undo(journal(), "p1", entry("a").sequence).error().code, Code::not_found);
    ASSERT_OK(undo(journal(), "p2", entry("a").sequence));
    reopen();
    EXPECT_THAT(*journal().ledger(""), IsEmpty());
}

TEST_F(LedgerTest, AnOwnerWhoAppliesAgainIsTheNewest) {
    apply("p1", "host", step_for("a"));
    apply("p2", "cluster", step_for("a"));
    apply("p3", "host", another("a", "third"));
    EXPECT_THAT(owners_of(entry("a")),
                ElementsAre(std::pair("cluster", "step of a"), std::pair("host", "third")));
}

TEST_F(LedgerTest, AStepThatHoldsIsOwnedAndApplied) {
    ASSERT_OK(journal().begin(plan_named("p1"), 1));
    PreparedStep step = step_for("a");
    step.holds = true;
    ASSERT_OK(prepare(journal(), "p1", step));
    EXPECT_EQ(entry("a").applied, "step of a");
    EXPECT_EQ(journal().plan("p1")->steps.at(0).state, StepState::skipped);
}

TEST_F(LedgerTest, AForgottenStepLeavesWhatWasBefore) {
    apply("p1", "host", step_for("a"));
    const LedgerEntry before = entry("a");
    ASSERT_OK(journal().begin(plan_for("p2", "cluster", PlanPurpose::join), 2));
    ASSERT_OK(journal().record("p2", {.prepared = {another("a", "x"), step_for("b", 1)}}));
    ASSERT_OK(journal().record("p2", {.forgotten = {{0, before}, {1, std::nullopt}}}));
    reopen();
    EXPECT_EQ(entry("a").step, "step of a");
    EXPECT_THAT(owners_of(entry("a")), ElementsAre(std::pair("host", "step of a")));
    EXPECT_THAT(*journal().ledger(""), SizeIs(1));
    EXPECT_EQ(journal().plan("p2")->steps.at(1).state, StepState::pending);
}

TEST_F(LedgerTest, AReappliedStepIsAppliedWhenTheOwnerHasGone) {
    apply("p1", "host", step_for("a"));
    apply("p2", "cluster", another("a", "x"));
    const auto sequence = entry("a").sequence;
    ASSERT_OK(journal().reapplying(sequence, "step of a", "digest"));
    EXPECT_EQ(entry("a").step, "step of a");
    EXPECT_EQ(entry("a").applied, "x");
    ASSERT_OK(journal().undone("p2", {{.sequence = sequence, .reapplied = true}}, "[]"));
    EXPECT_EQ(entry("a").applied, "step of a");
    EXPECT_EQ(entry("a").written, "digest");
    EXPECT_EQ(journal().plan("p2")->stays, "[]");
}

TEST_F(LedgerTest, AStepIsAppliedOnceItIsDone) {
    ASSERT_OK(journal().begin(plan_named("p1"), 2));
    ASSERT_OK(prepare(journal(), "p1", step_for("a")));
    EXPECT_EQ(entry("a").step, "step of a");
    EXPECT_EQ(entry("a").applied, "");
    ASSERT_OK(finish(journal(), "p1", 0, StepState::done));
    EXPECT_EQ(entry("a").applied, "step of a");
    PreparedStep second = step_for("a", 1);
    second.step = "second";
    ASSERT_OK(prepare(journal(), "p1", second));
    ASSERT_OK(finish(journal(), "p1", 1, StepState::failed, "why"));
    EXPECT_EQ(entry("a").step, "second");
    EXPECT_EQ(entry("a").applied, "step of a");
}

TEST_F(LedgerTest, TheLedgerOfAnOwnerIsNewestFirst) {
    apply("p1", "host", step_for("a"));
    apply("p2", "cluster", step_for("b"));
    apply("p3", "host", step_for("c"));
    EXPECT_THAT(*journal().ledger("host"),
                ElementsAre(Field(&LedgerEntry::target, "c"), Field(&LedgerEntry::target, "a")));
    EXPECT_THAT(*journal().ledger(""), SizeIs(3));
    ASSERT_OK(undo(journal(), "p3", entry("c").sequence));
    reopen();
    EXPECT_THAT(*journal().ledger("host"), ElementsAre(Field(&LedgerEntry::target, "a")));
}

TEST_F(LedgerTest, AnUndoneObjectGetsANewPreImage) {
    apply("p1", "host", step_for("a"));
    ASSERT_OK(undo(journal(), "p1", entry("a").sequence));
    PreparedStep later = step_for("a");
    later.pre_image = "later";
    ASSERT_OK(journal().begin(plan_named("p2"), 1));
    ASSERT_OK(prepare(journal(), "p2", later));
    EXPECT_EQ(entry("a").pre_image, "later");
    EXPECT_EQ(entry("a").applied, "");
}

TEST_F(LedgerTest, AnyBytesAreStored) {
    PreparedStep odd = step_for(std::string("\0'\"\xff\n%", 6));
    odd.pre_image = std::string(100000, '\x01');
    apply("p1", "日本", odd);
    reopen();
    const auto entries = journal().ledger("日本");
    ASSERT_THAT(*entries, SizeIs(1));
    EXPECT_EQ(entries->front().target, odd.target);
    EXPECT_EQ(entries->front().pre_image, odd.pre_image);
}

// --- audit

TEST_F(JournalTest, TheAuditTrailIsNewestFirstAndChained) {
    ASSERT_OK(journal().audit(0, 1, "plan accepted", "p1"));
    ASSERT_OK(journal().audit(990, 42, "refused", "path /etc/shadow"));
    reopen();
    const auto trail = journal().audit_trail(10);
    ASSERT_TRUE(trail) << trail.error().what;
    ASSERT_THAT(*trail, SizeIs(2));
    EXPECT_EQ((*trail)[0].uid, 990U);
    EXPECT_EQ((*trail)[0].pid, 42);
    EXPECT_EQ((*trail)[0].event, "refused");
    EXPECT_EQ((*trail)[0].detail, "path /etc/shadow");
    EXPECT_EQ((*trail)[0].sequence, (*trail)[1].sequence + 1);
    EXPECT_NE((*trail)[0].chain, (*trail)[1].chain);
    EXPECT_THAT(*journal().audit_trail(1), ElementsAre(Field(&AuditRecord::event, "refused")));
}

TEST_F(JournalTest, DroppedAuditRecordsLeaveAValidChain) {
    limits_.audit_records = 3;
    limits_.audit_seconds = 0;
    reopen();
    for (int i = 1; i <= 10; ++i) ASSERT_OK(journal().audit(0, 1, "event", fmt::format("{}", i)));
    reopen();
    ASSERT_OK(journal().verify());
    EXPECT_THAT(*journal().audit_trail(100),
                ElementsAre(Field(&AuditRecord::detail, "10"), Field(&AuditRecord::detail, "9"),
                            Field(&AuditRecord::detail, "8")));
}

TEST_F(JournalTest, ManyRecordsDoNotPushTheAuditOfThisWeekOut) {
    limits_.audit_records = 3;
    reopen();
    for (int i = 1; i <= 200; ++i) ASSERT_OK(journal().audit(998, 1, "event", ""));
    EXPECT_THAT(*journal().audit_trail(1000), SizeIs(200));
}

TEST_F(JournalTest, OffersOfAUserAreCountedSinceATime) {
    ASSERT_OK(journal().audit(998, 1, kPlanOffered, "a"));
    ASSERT_OK(journal().audit(998, 1, kPlanOffered, "b"));
    ASSERT_OK(journal().audit(998, 1, "refused", "c"));
    ASSERT_OK(journal().audit(0, 1, kPlanOffered, "d"));
    const std::int64_t now = std::time(nullptr);
    EXPECT_EQ(journal().offers(998, now - 60)->count, 2);
    EXPECT_NEAR(static_cast<double>(journal().offers(998, now - 60)->first_at),
                static_cast<double>(now), 60);
    EXPECT_EQ(journal().offers(998, now + 60)->count, 0);
    EXPECT_EQ(journal().offers(7, now - 60)->count, 0);
}

// --- files and processes

TEST_F(JournalTest, EverythingIsInOneFileThatOnlyTheOwnerCanRead) {
    ASSERT_OK(journal().audit(0, 1, "event", ""));
    EXPECT_FALSE(scratch_.has("journal.db-shm"));
    struct stat status{};
    ASSERT_EQ(::stat(scratch_.file("journal.db").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & ALLPERMS, 0600U);
    EXPECT_EQ(std::filesystem::file_size(scratch_.file("journal.db-wal")), 0U);
    journal_ = fail(Code::internal, "closed");
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_.path())) {
        names.push_back(entry.path().filename());
    }
    EXPECT_THAT(names, testing::UnorderedElementsAre("journal.db", "journal.lock"));
}

TEST_F(JournalTest, ASecondOpenerGetsTheProcessIdOfTheFirst) {
    const auto second = Journal::open(scratch_.path(), {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::conflict);
    EXPECT_THAT(second.error().what, HasSubstr(fmt::format("process {}", ::getpid())));
}

TEST_F(JournalTest, TheJournalOfADeadProcessCanBeOpened) {
    journal_ = fail(Code::internal, "closed");
    const pid_t child = ::fork();
    if (child == 0) {
        auto theirs = Journal::open(scratch_.path(), {});
        const bool done = theirs && theirs->begin(plan_named("p1"), 1);
        ::_exit(done ? 0 : 1);  // without closing anything
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    reopen();
    EXPECT_EQ(journal().plan("p1")->state, PlanState::running);
}

TEST(JournalOpen, NeedsItsDirectory) {
    const Scratch scratch;
    const auto journal = Journal::open(scratch.file("missing"), {});
    ASSERT_FALSE(journal);
    EXPECT_EQ(journal.error().code, Code::not_found);
    EXPECT_THAT(journal.error().what, HasSubstr(scratch.file("missing")));
}

}  // namespace
}  // namespace kubexm::executor
