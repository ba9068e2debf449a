#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "daemon/base/fd.hpp"
#include "daemon/executor/journal/journal.hpp"
#include "examples.hpp"
#include "fault_vfs.hpp"
#include "scratch.hpp"
#include "tests/unit/sanitized.hpp"

// Disk full, I/O errors, SIGKILL and power cuts at every operation on the journal's files.

namespace kubexm::executor {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using Fault = FaultVfs::Fault;

// --- faults that a process survives

struct FaultCase {
    std::string name;
    Fault fault;
    bool lasting;
    Code code;
};

std::ostream& operator<<(std::ostream& out, const FaultCase& fault) { return out << fault.name; }

class FaultyDisk : public testing::TestWithParam<FaultCase> {
protected:
    /// One action with the fault at one operation; false: it has fewer operations.
    bool survives(Journal& journal, std::size_t number, int at) {
        const Action& action = actions()[number];
        SCOPED_TRACE(action.name + ", operation " + std::to_string(at));
        vfs_.arm({.fault = GetParam().fault, .at = at, .lasting = GetParam().lasting});
        auto done = action.act(journal);
        const bool hit = vfs_.was_hit();
        EXPECT_EQ(content_of(journal), contents_[number + (done ? 1 : 0)]) << "with the fault";
        vfs_.disarm();
        if (!done) {
            EXPECT_EQ(done.error().code, GetParam().code) << done.error().what;
            EXPECT_THAT(done.error().what, HasSubstr("journal.db"));
            EXPECT_EQ(content_of(journal), contents_[number]) << "after the fault";
            ++refused_;
            done = action.act(journal);
        }
        EXPECT_TRUE(done) << done.error().what;
        EXPECT_EQ(content_of(journal), contents_[number + 1]);
        const auto good = journal.verify();
        EXPECT_TRUE(good) << good.error().what;
        return hit;
    }

    FaultVfs vfs_;
    const std::vector<std::string> contents_ = contents_after_actions();
    int refused_ = 0;
};

TEST_P(FaultyDisk, AFailedActionLeavesTheOldStateAndSucceedsLater) {
    Scratch before;
    Scratch scratch;
    {
        ASSERT_TRUE(Journal::open(before.path(), kNarrow));
    }
    for (std::size_t number = 0; number < actions().size(); ++number) {
        for (int at = 1;; ++at) {
            scratch.become(before);
            auto journal = Journal::open(scratch.path(), kNarrow);
            ASSERT_TRUE(journal) << journal.error().what;
            if (!survives(*journal, number, at) || HasFailure()) break;
        }
        ASSERT_FALSE(HasFailure());
        before.become(scratch);
    }
    // Every action fails at least at its first write and its sync.
    EXPECT_GE(refused_, static_cast<int>(2 * actions().size()));
}

TEST_P(FaultyDisk, AFailedFirstOpenSucceedsLater) {
    int refused = 0;
    for (int at = 1;; ++at) {
        SCOPED_TRACE("operation " + std::to_string(at));
        const Scratch scratch;
        vfs_.arm({.fault = GetParam().fault, .at = at, .lasting = GetParam().lasting});
        {
            auto journal = Journal::open(scratch.path(), kNarrow);
            if (!journal) {
                EXPECT_EQ(journal.error().code, GetParam().code) << journal.error().what;
                ++refused;
            }
        }
        const bool hit = vfs_.was_hit();
        vfs_.disarm();
        auto journal = Journal::open(scratch.path(), kNarrow);
        ASSERT_TRUE(journal) << journal.error().what;
        EXPECT_EQ(content_of(*journal), contents_[0]);
        if (!hit) break;
    }
    EXPECT_GE(refused, 3);
}

INSTANTIATE_TEST_SUITE_P(
    Journal, FaultyDisk,
    testing::Values(FaultCase{"FullOnce", Fault::disk_full, false, Code::exhausted},
                    FaultCase{"FullUntilFreed", Fault::disk_full, true, Code::exhausted},
                    FaultCase{"IoErrorOnce", Fault::io_error, false, Code::unavailable},
                    FaultCase{"IoErrorUntilHealed", Fault::io_error, true, Code::unavailable}),
    [](const auto& test) { return test.param.name; });

// --- faults that kill it

struct DeathCase {
    std::string name;
    Fault fault;
    std::string lost;
};

std::ostream& operator<<(std::ostream& out, const DeathCase& death) { return out << death.name; }

class Death : public testing::TestWithParam<DeathCase> {
protected:
    struct Outcome {
        std::size_t acknowledged = 0;
        bool alive = false;
    };
    /// Runs all actions in a child that dies at one operation.
    Outcome run_and_die(const Scratch& scratch, int at) {
        int ends[2] = {-1, -1};
        if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
        const Fd reader{ends[0]};
        Fd writer{ends[1]};
        const pid_t child = ::fork();
        if (child == 0) {
            vfs_.arm({.fault = GetParam().fault, .at = at, .lost = GetParam().lost});
            ::_exit(run_and_acknowledge(scratch, writer.get()));
        }
        writer.reset();
        Outcome outcome;
        for (char byte = 0; ::read(reader.get(), &byte, 1) == 1;) ++outcome.acknowledged;
        int status = 0;
        ::waitpid(child, &status, 0);
        outcome.alive = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        EXPECT_TRUE(outcome.alive || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
            << status;
        return outcome;
    }

    static int run_and_acknowledge(const Scratch& scratch, int pipe) {
        auto journal = Journal::open(scratch.path(), kNarrow);
        if (!journal) return 1;
        for (const Action& action : actions()) {
            if (!action.act(*journal)) return 2;
            if (::write(pipe, "x", 1) != 1) return 3;
        }
        return 0;
    }

    /// Dies at one operation on a copy of `before`, then reopens; false: it did not die.
    bool dies_and_recovers(const Scratch& before, int at) {
        SCOPED_TRACE("operation " + std::to_string(at));
        const Scratch scratch;
        scratch.become(before);
        const Outcome outcome = run_and_die(scratch, at);
        auto journal = Journal::open(scratch.path(), kNarrow);
        EXPECT_TRUE(journal) << journal.error().what;
        if (!journal) return false;
        const std::size_t next = std::min(outcome.acknowledged + 1, actions().size());
        EXPECT_THAT(content_of(*journal), AnyOf(contents_[outcome.acknowledged], contents_[next]));
        return !outcome.alive;
    }

    FaultVfs vfs_;
    const std::vector<std::string> contents_ = contents_after_actions();
};

TEST_P(Death, AcknowledgedActionsAreDurableAndTheNextIsAtomic) {
    const Scratch before;
    {
        ASSERT_TRUE(Journal::open(before.path(), kNarrow));
    }
    int at = 1;
    while (dies_and_recovers(before, at) && !HasFailure()) at += kEveryCrash;
    // Each action writes and syncs at least the log and then the file.
    EXPECT_GT(at, static_cast<int>(4 * actions().size()));
}

TEST_P(Death, AnInterruptedFirstOpenCanBeRepeated) {
    const Scratch nothing;
    for (int at = 1; at <= 5; ++at) EXPECT_TRUE(dies_and_recovers(nothing, at));
}

INSTANTIATE_TEST_SUITE_P(
    Journal, Death,
    testing::Values(DeathCase{"Kill", Fault::kill, ""}, DeathCase{"PowerCut", Fault::power_cut, ""},
                    DeathCase{"PowerCutLosesOnlyTheLog", Fault::power_cut, "-wal"},
                    DeathCase{"PowerCutLosesOnlyTheFile", Fault::power_cut, ".db"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace kubexm::executor
