#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../host/systemd_test.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Units : public SystemdTest {
protected:
    Context context() { return {root_, systemd, vault_, soon(), {}}; }
    void have(const std::string& active, const std::string& enablement = "enabled") {
        fake.when("GetAll", [active](Peer& peer, sd_bus_message* call) {
            peer.reply(call, "a{sv}", 2, "LoadState", "s", "loaded", "ActiveState", "s",
                       active.c_str());
        });
        fake.when("GetUnitFileState", [enablement](Peer& peer, sd_bus_message* call) {
            peer.reply(call, "s", enablement.c_str());
        });
    }
    UnitPreImage captured() {
        Context working = context();
        auto image = capture(working, inactive_);
        EXPECT_THAT(image, IsOk());
        return std::get<UnitPreImage>(*image);
    }
    auto undone(const UnitPreImage& before) {
        Context working = context();
        return undo(working, inactive_, *image_from_json(to_json(before)));
    }

    const model::UnitState inactive_{"kubelet.service", {}, false, {}, ""};
    Scratch scratch_;
    Root root_ = scratch_.root();
    Vault vault_ = Vault::open(scratch_.top() / "vault").value();
};

TEST_F(Units, ThatMustBeInactiveAreStoppedWhileStartingAndAwaitedWhileStopping) {
    for (const char* state : {"active", "reloading", "activating", "deactivating"}) {
        have(state);
        Context working = context();
        EXPECT_EQ(holds(working, inactive_), false) << state;
        EXPECT_THAT(apply(working, inactive_), IsOk());
        EXPECT_THAT(fake.calls_of_interest().back(), HasSubstr("StopUnit")) << state;
    }
    for (const char* state : {"inactive", "failed"}) {
        have(state);
        Context working = context();
        EXPECT_EQ(holds(working, inactive_), true) << state;
    }
}

TEST_F(Units, ThatMustBeActiveMustHaveFinishedStarting) {
    have("activating");
    Context working = context();
    EXPECT_EQ(holds(working, model::UnitState{"kubelet.service", {}, true, {}, ""}), false);
}

TEST_F(Units, AreEnabledOnceTheyRun) {
    have("inactive", "disabled");
    Context working = context();
    const model::UnitState wanted{"kubelet.service", true, true, {}, ""};
    EXPECT_THAT(apply(working, wanted), IsOk());
    const auto calls = fake.calls_of_interest();
    ASSERT_GE(calls.size(), 3U);
    EXPECT_THAT(std::vector(calls.end() - 3, calls.end()),
                ElementsAre("StartUnit(kubelet.service, replace)",
                            "EnableUnitFiles([kubelet.service], 0, 0)", "Reload()"));
}

TEST_F(Units, AreReadOnceForACheckAndItsPreImage) {
    have("inactive", "disabled");
    Context working = context();
    const model::UnitState wanted{"kubelet.service", true, true, {}, ""};
    EXPECT_EQ(holds(working, wanted), false);
    EXPECT_EQ(std::get<UnitPreImage>(*capture(working, wanted)).enablement, "disabled");
    EXPECT_EQ(std::ranges::count(fake.calls_of_interest(), "GetUnitFileState(kubelet.service)"), 1);
}

TEST_F(Units, ThatWereInARestartLoopAreStartedAgain) {
    have("activating");
    const UnitPreImage before = captured();
    EXPECT_TRUE(before.active);
    have("inactive");
    fake.when("StartUnit", job_that_ends("failed"));
    EXPECT_THAT(undone(before), IsOk()) << "the unit failed before the plan as well";
    EXPECT_THAT(fake.calls_of_interest(), Contains("StartUnit(kubelet.service, replace)"));
}

TEST_F(Units, ThatAreStartingAlreadyAreNotStartedAgain) {
    have("activating");
    EXPECT_THAT(undone(captured()), IsOk());
    EXPECT_THAT(fake.calls_of_interest(), Not(Contains(HasSubstr("StartUnit"))));
}

TEST_F(Units, ThatWereActiveMustBecomeActive) {
    have("active");
    const UnitPreImage before = captured();
    have("inactive");
    fake.when("StartUnit", job_that_ends("failed"));
    EXPECT_THAT(undone(before), IsError(Code::unavailable, "StartUnit kubelet.service"));
}

TEST_F(Units, AreReloadedWhenTheirFileIsRestored) {
    const model::RenderedFile unit{model::ProxyDropIn{.service = model::ManagedService::kubelet}};
    const model::RenderedFile other{model::ModulesFile{}};
    Context working = context();
    EXPECT_EQ(undo(working, other, PathPreImage{.kind = "absent"}), "");
    EXPECT_THAT(fake.calls_of_interest(), Not(Contains("Reload()")));
    EXPECT_EQ(undo(working, unit, PathPreImage{.kind = "absent"}), "");
    EXPECT_THAT(fake.calls_of_interest(), Contains("Reload()"));
}

class MaskedUnits : public Units {
protected:
    MaskedUnits() {
        have("inactive", "masked");
        const fs::path wants = scratch_.at("/etc/systemd/system/multi-user.target.wants");
        fs::create_directories(wants);
        link_ = wants / "kubelet.service";
    }
    /// The calls of an undo after the unit was unmasked and enabled.
    std::vector<std::string> calls_of_undo(const UnitPreImage& before) {
        have("inactive", "enabled");
        EXPECT_THAT(undone(before), IsOk());
        return fake.calls_of_interest();
    }
    fs::path link_;
};

TEST_F(MaskedUnits, ThatWereEnabledKeepTheirLinks) {
    fs::create_symlink("/usr/lib/systemd/system/kubelet.service", link_);
    const auto calls = calls_of_undo(captured());
    EXPECT_THAT(calls, Not(Contains(HasSubstr("DisableUnitFiles"))));
    EXPECT_THAT(calls, Contains(HasSubstr("MaskUnitFiles([kubelet.service]")));
}

TEST_F(MaskedUnits, ThatWereNotEnabledLoseTheNewLinks) {
    const auto calls = calls_of_undo(captured());
    EXPECT_THAT(calls, Contains(HasSubstr("DisableUnitFiles")));
    EXPECT_THAT(calls, Contains(HasSubstr("MaskUnitFiles([kubelet.service]")));
}

TEST_F(MaskedUnits, ThatAreStillMaskedAreNotEnabled) {
    fs::create_symlink("/usr/lib/systemd/system/kubelet.service", link_);
    EXPECT_THAT(undone(captured()), IsOk());
    EXPECT_THAT(fake.calls_of_interest(), Not(Contains(HasSubstr("EnableUnitFiles"))));
}

}  // namespace
}  // namespace kubexm::executor
