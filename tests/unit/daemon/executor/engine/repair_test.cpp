#include "daemon/executor/engine/repair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/executor/steps/restart_key.hpp"

namespace kubexm::executor {
namespace {

using model::Step;
using testing::ElementsAre;
using testing::IsEmpty;

const Step kLink = model::Symlink{"/etc/link", "target"};
const Step kReload = model::DaemonReload{{"kubelet.service"}};
const Step kConfig = model::RenderedFile{model::KubeletConfiguration{}};
const Step kDropIn = model::RenderedFile{model::ProxyDropIn{model::ManagedService::containerd}};
const model::UnitState kKubelet{"kubelet.service", true, true, std::nullopt, "key"};

Step unmasked(model::UnitState unit, const std::string& key) {
    unit.masked = false;
    unit.restart_key = key;
    return unit;
}

TEST(Repair, OfNothingIsEmpty) {
    EXPECT_THAT(repair_steps({{kLink}, {kReload}, {kKubelet}}, "r"), IsEmpty());
}

TEST(Repair, AppliesWhatDiffersBeforeUnits) {
    EXPECT_THAT(repair_steps({{kReload}, {kKubelet, true}, {kLink, true}, {kDropIn}}, "r"),
                ElementsAre(kLink, unmasked(kKubelet, "key")));
}

TEST(Repair, ReloadsFilesOfUnitsWithoutAStepOfTheirOwn) {
    EXPECT_THAT(repair_steps({{kReload}, {kConfig, true}}, "r"), ElementsAre(kConfig, kReload));
    EXPECT_THAT(repair_steps({{kReload}, {kDropIn, true}}, "r"), ElementsAre(kDropIn));
    EXPECT_THAT(repair_steps({{kReload}, {kConfig, true}, {kKubelet}}, "r"),
                ElementsAre(kConfig, unmasked(kKubelet, "key#r")));
}

TEST(Repair, RestartsAUnitForAFileThatItReadsAtItsStartOnly) {
    EXPECT_THAT(repair_steps({{kConfig, true}, {kKubelet}}, "r"),
                ElementsAre(kConfig, unmasked(kKubelet, "key#r")));
    EXPECT_THAT(repair_steps({{kDropIn, true}, {kKubelet}}, "r"), ElementsAre(kDropIn));
    EXPECT_THAT(repair_steps({{kLink, true}, {kKubelet}}, "r"), ElementsAre(kLink));
}

TEST(Repair, DoesNotStartAUnitThatShallNotRun) {
    const model::UnitState stopped{"kubelet.service", false, false, std::nullopt, ""};
    EXPECT_THAT(repair_steps({{kConfig, true}, {stopped}}, "r"), ElementsAre(kConfig));
}

TEST(Repair, KeepsAMaskThatWasApplied) {
    const model::UnitState masked{"kubelet.service", std::nullopt, false, true, ""};
    EXPECT_THAT(repair_steps({{masked, true}}, "r"), ElementsAre(Step(masked)));
}

TEST(RestartKey, OfARepairRestartsOnceAndIsNoOtherKeyLater) {
    EXPECT_TRUE(needs_another_start("key", restart_key_for("key", "r1")));
    EXPECT_TRUE(needs_another_start("key#r1", restart_key_for("key#r1", "r2")));
    EXPECT_FALSE(needs_another_start("key#r1", "key#r1"));
    EXPECT_FALSE(needs_another_start("key#r1", "key"));
    EXPECT_TRUE(needs_another_start("key#r1", "other"));
    EXPECT_FALSE(needs_another_start("key", "key"));
}

}  // namespace
}  // namespace kubexm::executor
