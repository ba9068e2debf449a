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
const Step kReloadStep = model::DaemonReload{{"kubelet.service"}};
const Step kConfig = model::RenderedFile{model::KubeletConfiguration{}};
const Step kDropIn = model::RenderedFile{model::ProxyDropIn{model::ManagedService::containerd}};
const model::UnitState kKubeletUnit{"kubelet.service", true, true, std::nullopt, "key"};

Step unmasked(model::UnitState unit, const std::string& key) {
    unit.masked = false;
    unit.restart_key = key;
    return unit;
}

TEST(Repair, OfNothingIsEmpty) {
    EXPECT_THAT(repair_steps({{kLink}, {kReloadStep}, {kKubeletUnit}}, "r"), IsEmpty());
}

TEST(Repair, AppliesWhatDiffersBeforeUnits) {
    EXPECT_THAT(repair_steps({{kReloadStep}, {kKubeletUnit, true}, {kLink, true}, {kDropIn}}, "r"),
                ElementsAre(kLink, unmasked(kKubeletUnit, "key")));
}

TEST(Repair, ReloadsFilesOfUnitsWithoutAStepOfTheirOwn) {
    EXPECT_THAT(repair_steps({{kReloadStep}, {kConfig, true}}, "r"),
                ElementsAre(kConfig, kReloadStep));
    EXPECT_THAT(repair_steps({{kReloadStep}, {kDropIn, true}}, "r"), ElementsAre(kDropIn));
    EXPECT_THAT(repair_steps({{kReloadStep}, {kConfig, true}, {kKubeletUnit}}, "r"),
                ElementsAre(kConfig, unmasked(kKubeletUnit, "key#r")));
}

TEST(Repair, RestartsAUnitForAFileThatItReadsAtItsStartOnly) {
    EXPECT_THAT(repair_steps({{kConfig, true}, {kKubeletUnit}}, "r"),
                ElementsAre(kConfig, unmasked(kKubeletUnit, "key#r")));
    EXPECT_THAT(repair_steps({{kDropIn, true}, {kKubeletUnit}}, "r"), ElementsAre(kDropIn));
    EXPECT_THAT(repair_steps({{kLink, true}, {kKubeletUnit}}, "r"), ElementsAre(kLink));
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
