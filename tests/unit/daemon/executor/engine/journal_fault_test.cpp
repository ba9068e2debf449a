#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../journal/fault_vfs.hpp"
#include "engine_host.hpp"

namespace kubexm::executor {
namespace {

class JournalFault : public EngineHost {
protected:
    /// Runs the plan while the journal's nth write fails. False: the journal wrote less often.
    bool hit_at(int operation, FaultVfs::Fault fault, const PlanRecord& record) {
        vfs_.arm({.fault = fault, .at = operation});
        first_ = carried_out(record);
        const bool hit = vfs_.was_hit();
        vfs_.disarm();
        return hit;
    }
    /// As the service resumes a plan after a fault.
    Result<PlanState> resumed() {
        auto left = engine.interrupted();
        if (!left) return std::unexpected(left.error());
        const std::optional<PlanRecord>& plan = *left;
        return plan ? carried_out(*plan) : PlanState::done;
    }

    FaultVfs vfs_;
    Result<PlanState> first_;
};

TEST_F(JournalFault, LeavesThePlanRunningUntilItIsResumed) {
    for (const auto fault : {FaultVfs::Fault::disk_full, FaultVfs::Fault::io_error}) {
        bool hit = true;
        for (int at = 1; hit; ++at) {
            const std::string id = fmt::format("p{}-{}", static_cast<int>(fault), at);
            auto record = engine.accept(link_plan(id, "/etc/" + id), {}, kAgentCaller);
            ASSERT_THAT(record, IsOk());
            hit = hit_at(at, fault, *record);
            EXPECT_TRUE(!first_ || *first_ == PlanState::done) << id;
            EXPECT_THAT(resumed(), IsState(PlanState::done)) << id;
            EXPECT_EQ(engine.plan(id)->state, PlanState::done) << id;
        }
    }
}

TEST_F(JournalFault, LeavesAnUndoRunningUntilItIsResumed) {
    bool hit = true;
    for (int at = 1; hit; ++at) {
        const std::string id = fmt::format("p{}", at);
        ASSERT_THAT(applied(link_plan(id)), IsState(PlanState::done));
        auto undo = engine.accept_undo("undo-" + id, "machine-1", kAgentCaller);
        ASSERT_THAT(undo, IsOk());
        hit = hit_at(at, FaultVfs::Fault::io_error, *undo);
        ASSERT_THAT(resumed(), IsOk()) << id;
        EXPECT_EQ(engine.plan("undo-" + id)->state, PlanState::undone) << id;
        EXPECT_FALSE(std::filesystem::is_symlink(scratch_.at("/etc/link"))) << id;
    }
}

}  // namespace
}  // namespace kubexm::executor
