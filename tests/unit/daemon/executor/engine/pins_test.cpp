#include <gtest/gtest.h>

#include "join_host.hpp"

namespace kubexm::executor {
namespace {

/// A host whose root pins a CA after kubexmd's plan was accepted.
class PinsAdded : public JoinHost {
protected:
    Result<PlanRecord> accepted_join() { return join_accepted("p", kServer, theirs_, theirs_); }
};

TEST_F(PinsAdded, HoldForAPlanThatIsResumed) {
    const auto record = accepted_join();
    ASSERT_TRUE(record) << record.error().what;
    engine.allow(pinned());
    EXPECT_THAT(carried_out(*record), IsState(PlanState::failed));
    EXPECT_THAT(engine.plan("p")->last_error, testing::HasSubstr("expected one that is pinned"));
    EXPECT_FALSE(std::filesystem::exists(scratch_.at(model::kClientCa)));
}

TEST_F(PinsAdded, HoldForTheNextStepOfAPlanThatRuns) {
    const auto record = accepted_join();
    ASSERT_TRUE(record) << record.error().what;
    const auto pin_after_the_first = [this] {
        if (std::filesystem::exists(scratch_.at("/etc/kubernetes/kubelet.conf"))) {
            engine.allow(pinned());
        }
    };
    EXPECT_THAT(engine.carry_out(*record, {}, {[](const Report&) {}, pin_after_the_first}),
                IsState(PlanState::failed));
    EXPECT_THAT(engine.plan("p")->last_error, testing::HasSubstr("expected one that is pinned"));
    EXPECT_FALSE(std::filesystem::exists(scratch_.at(model::kClientCa)));
}

TEST_F(PinsAdded, DoNotStopARepairOfWhatIsThere) {
    if (!is_root()) GTEST_SKIP() << "files of root";
    const auto record = accepted_join();
    ASSERT_TRUE(record) << record.error().what;
    ASSERT_THAT(carried_out(*record), IsState(PlanState::done)) << engine.plan("p")->last_error;
    engine.allow(pinned());
    const auto file = scratch_.at("/etc/kubernetes/kubelet.conf");
    const std::string written = content_of(file);
    put(file, "other");
    const auto repair = engine.accept_repair("r", "machine-1", kAgentCaller);
    ASSERT_TRUE(repair) << repair.error().what;
    EXPECT_THAT(carried_out(*repair), IsState(PlanState::done)) << engine.plan("r")->last_error;
    EXPECT_EQ(content_of(file), written);
}

TEST_F(PinsAdded, AreNotForTheRegistries) {
    engine.allow(pinned());
    const std::string registry = std::string(model::kRegistryCas) + "/m.crt";
    EXPECT_TRUE(accepted({"p", "machine-1", {}}, {{registry, theirs_}}));
    EXPECT_THAT(accepted({"q", "machine-1", {}}, {{model::kClusterCa, theirs_}}),
                IsError(Code::denied, "expected one that is pinned"));
}

}  // namespace
}  // namespace kubexm::executor
