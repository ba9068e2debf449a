#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

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
    EXPECT_EQ(undo(working, other, PathPreImage{}), "");
    EXPECT_FALSE(working.reloading);
    EXPECT_EQ(undo(working, unit, PathPreImage{}), "");
    EXPECT_TRUE(working.reloading) << "the caller waits for its end";
    EXPECT_THAT(systemd.end_reload(soon()), IsOk());
    EXPECT_THAT(fake.calls_of_interest(), Contains("Reload()").Times(1));
}

/// A unit that kubexm wrote.
class OwnCommand : public Units {
protected:
    OwnCommand() {
        fs::create_directories(file_.parent_path());
        std::ofstream(file_) << "# Written by kubexm; manual changes are overwritten.\n[Service]\n"
                                "ExecStart=/bin/kubelet \\\n    \"--a=b\"\nRestart=always\n";
        std::ofstream(drop_in_) << "[Service]\nExecStart=\nExecStart=/bin/other\n";
        std::ofstream(harmless_) << "[Service]\nEnvironment=ExecStart=/bin/other\n";
    }
    void have_command(const std::string& program, const std::vector<const char*>& argv,
                      const std::string& fragment = "/etc/systemd/system/kubelet.service") {
        fake.when("GetAll", [=, this](Peer& peer, sd_bus_message* call) {
            constexpr std::uint64_t kNoTime = 0;
            peer.reply(call, "a{sv}", 5, "ActiveState", "s", "inactive", "FragmentPath", "s",
                       fragment.c_str(), "DropInPaths", "as", 2, harmless_.c_str(),
                       drop_in_.c_str(), "User", "s", user_, "ExecStart", "a(sasbttttuii)", 1,
                       program.c_str(), 2, argv[0], argv[1], 0, kNoTime, kNoTime, kNoTime, kNoTime,
                       0U, 0, 0);
        });
    }
    auto started() {
        Context working = context();
        working.any_command = any_command_;
        return apply(working, model::UnitState{"kubelet.service", {}, true, {}, ""});
    }

    bool any_command_ = false;
    const char* user_ = "";
    const fs::path file_ = scratch_.at("/etc/systemd/system/kubelet.service");
    const fs::path drop_in_ = scratch_.top() / "10-kubeadm.conf";
    const fs::path harmless_ = scratch_.top() / "20-environment.conf";
};

TEST_F(OwnCommand, IsStartedAsItWasWritten) {
    have_command("/bin/kubelet", {"/bin/kubelet", "--a=b"});
    EXPECT_THAT(started(), IsOk());
    EXPECT_THAT(fake.calls_of_interest(), Contains("StartUnit(kubelet.service, replace)"));
}

TEST_F(OwnCommand, IsNotStartedAsAnotherOneAndTheDropInIsNamed) {
    using Argv = std::vector<const char*>;
    for (const auto& [program, argv] : {std::pair{"/bin/kubelet", Argv{"/bin/kubelet", "--a=c"}},
                                        std::pair{"/bin/other", Argv{"/bin/kubelet", "--a=b"}}}) {
        have_command(program, argv);
        const auto refused = started();
        ASSERT_THAT(refused, IsError(Code::conflict, " of " + drop_in_.string() + "; remove"));
        EXPECT_THAT(refused.error().what, Not(HasSubstr(harmless_.string())));
        EXPECT_THAT(fake.calls_of_interest(), Not(Contains(HasSubstr("StartUnit"))));
    }
}

TEST_F(OwnCommand, IsNotStartedAsAnotherUser) {
    user_ = "nobody";
    std::ofstream(drop_in_) << "[Service]\nUser=nobody\n";
    have_command("/bin/kubelet", {"/bin/kubelet", "--a=b"});
    EXPECT_THAT(started(), IsError(Code::conflict,
                                   "without User=, found it in " + drop_in_.string() + "; remove"));
    EXPECT_THAT(fake.calls_of_interest(), Not(Contains(HasSubstr("StartUnit"))));
    any_command_ = true;
    EXPECT_THAT(started(), IsOk());
}

TEST_F(OwnCommand, IsNotHiddenByAnotherUnitFile) {
    have_command("/bin/kubelet", {"/bin/kubelet", "--a=b"}, "/run/systemd/transient/k.service");
    EXPECT_THAT(started(), IsError(Code::conflict, " of /run/systemd/transient/k.service; remove"));
}

TEST_F(OwnCommand, MayBeReplacedWhereRootSaysSo) {
    have_command("/bin/other", {"/bin/other", "-v"});
    any_command_ = true;
    EXPECT_THAT(started(), IsOk());
}

TEST_F(OwnCommand, MattersOnlyInAFileOfKubexm) {
    std::ofstream(file_) << "[Service]\nExecStart=/bin/kubelet\n";
    have_command("/bin/other", {"/bin/other", "-v"});
    EXPECT_THAT(started(), IsOk());
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
