#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "../journal/fault_vfs.hpp"
#include "engine_host.hpp"
#include "tests/unit/crash_child.hpp"

namespace kubexm::executor {
namespace {

using testing::IsEmpty;

/// A group of steps, killed at every point on its way and on its way back.
class KilledInAGroup : public EngineHost {
protected:
    static model::Plan group() {
        model::Plan plan{"p", "machine-1", {}};
        for (const char* path : {"/etc/a", "/etc/b", "/etc/c"}) {
            plan.steps.emplace_back(model::Symlink{path, "x"});
        }
        return plan;
    }
    void begin_anew() const {
        for (const auto& directory : {state(), scratch_.at("/etc").string()}) {
            std::filesystem::remove_all(directory);
            std::filesystem::create_directory(directory);
        }
        put(scratch_.at("/etc/b"), "theirs");
    }
    bool is_as_before() const {
        return names_in(scratch_.at("/etc")) == std::set<std::string>{"b"} &&
               !std::filesystem::is_symlink(scratch_.at("/etc/b")) &&
               content_of(scratch_.at("/etc/b")) == "theirs";
    }

    const FaultVfs fast_;  // no fault: its syncs are fast

    /// Another process: what it does is in the journal or on the host only.
    struct Process {
        explicit Process(KilledInAGroup& host)
            : engine(host.state(), host.root_, host.systemd, host.engine.allowed()) {}

        Result<PlanState> run(const PlanRecord& record, const Stop& stop = {}) {
            return engine.carry_out(record, stop, {[](const Report&) {}, [] {}});
        }
        void apply() {
            if (auto record = engine.accept(group(), {}, kAgentCaller)) std::ignore = run(*record);
        }
        void undo(const std::string& id) {
            if (auto record = engine.accept_undo(id, "machine-1", kAgentCaller)) {
                std::ignore = run(*record);
            }
        }
        /// Goes on with what was interrupted, if anything.
        void resume(const Stop& stop = {}) {
            const auto left = engine.interrupted();
            ASSERT_THAT(left, IsOk());
            const std::optional<PlanRecord>& plan = *left;
            if (!plan) return;
            EXPECT_THAT(run(*plan, stop), IsOk());
        }
        Engine engine;
    };

    template <typename Work>
    static std::vector<crash::CrashPoint> points_of(const Work& work) {
        auto points = crash::crash_points_of(work);
        EXPECT_GE(points.size(), 12U);
        return points;
    }
};

TEST_F(KilledInAGroup, APlanIsResumedAndUndone) {
    begin_anew();
    for (const auto& point : points_of([&] { Process(*this).apply(); })) {
        SCOPED_TRACE(testing::PrintToString(point));
        begin_anew();
        ASSERT_TRUE(crash::dies_at(point, [&] { Process(*this).apply(); }));
        Process next(*this);
        next.resume();
        next.undo("u");
        EXPECT_TRUE(is_as_before());
        EXPECT_THAT(*next.engine.objects(), IsEmpty());
    }
}

/// As when other orders came meanwhile: what was prepared may or may not have been applied.
TEST_F(KilledInAGroup, APlanIsCancelledAndUndone) {
    std::stop_source cancel;
    cancel.request_stop();
    begin_anew();
    for (const auto& point : points_of([&] { Process(*this).apply(); })) {
        SCOPED_TRACE(testing::PrintToString(point));
        begin_anew();
        ASSERT_TRUE(crash::dies_at(point, [&] { Process(*this).apply(); }));
        Process next(*this);
        next.resume({.cancel = cancel.get_token()});
        next.undo("u");
        EXPECT_TRUE(is_as_before());
        EXPECT_THAT(*next.engine.objects(), IsEmpty());
    }
}

TEST_F(KilledInAGroup, AnUndoIsResumed) {
    const auto applied_anew = [&] {
        begin_anew();
        Process(*this).apply();
    };
    applied_anew();
    for (const auto& point : points_of([&] { Process(*this).undo("u"); })) {
        SCOPED_TRACE(testing::PrintToString(point));
        applied_anew();
        ASSERT_TRUE(crash::dies_at(point, [&] { Process(*this).undo("u"); }));
        Process next(*this);
        next.resume();
        next.undo("again");
        EXPECT_TRUE(is_as_before());
        EXPECT_THAT(*next.engine.objects(), IsEmpty());
    }
}

/// The object goes back to its other owner.
TEST_F(KilledInAGroup, AnUndoAppliesTheStepOfARemainingOwner) {
    const auto applied_twice = [&] {
        begin_anew();
        Process process(*this);
        process.apply();
        auto other = process.engine.accept({"o", "machine-2", {model::Symlink{"/etc/a", "y"}}}, {},
                                           kAgentCaller);
        ASSERT_THAT(other, IsOk());
        EXPECT_THAT(process.run(*other), IsState(PlanState::done));
    };
    const auto leave = [&] {
        Process process(*this);
        if (auto undo = process.engine.accept_undo("u", "machine-2", kAgentCaller)) {
            std::ignore = process.run(*undo);
        }
    };
    applied_twice();
    for (const auto& point : points_of(leave)) {
        SCOPED_TRACE(testing::PrintToString(point));
        applied_twice();
        ASSERT_TRUE(crash::dies_at(point, leave));
        Process next(*this);
        next.resume();
        if (auto undo = next.engine.accept_undo("again", "machine-2", kAgentCaller)) {
            EXPECT_THAT(next.run(*undo), IsState(PlanState::undone));
        }
        EXPECT_EQ(std::filesystem::read_symlink(scratch_.at("/etc/a")), "x");
        next.undo("u2");
        EXPECT_TRUE(is_as_before());
    }
}

}  // namespace
}  // namespace kubexm::executor
