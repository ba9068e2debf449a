#include <csignal>

#include "systemd_test.hpp"

namespace kubexm::executor {
namespace {

using SystemdStatus = SystemdTest;
using testing::ElementsAre;

/// The properties of a service, with others between them.
FakeSystemd::Answer service(const std::string& active, const std::string& result, int main_code,
                            int main_status) {
    return [=](Peer& peer, sd_bus_message* call) {
        peer.reply(call, "a{sv}", 10,                                         //
                   "Id", "s", "a.service",                                    //
                   "LoadState", "s", "loaded",                                //
                   "ActiveState", "s", active.c_str(),                        //
                   "SubState", "s", "running",                                //
                   "Conditions", "a(sbbsi)", 1, "P", 0, 0, "/x", 1,           //
                   "FragmentPath", "s", "/usr/lib/systemd/system/a.service",  //
                   "NeedDaemonReload", "b", 1,                                //
                   "Result", "s", result.c_str(),                             //
                   "ExecMainCode", "i", main_code,                            //
                   "ExecMainStatus", "i", main_status);
    };
}

TEST_F(SystemdStatus, HasThePropertiesOfTheUnit) {
    fake.when("GetAll", service("failed", "exit-code", CLD_EXITED, 3));
    const UnitStatus expected{.name = "a.service",
                              .load = "loaded",
                              .active = "failed",
                              .sub = "running",
                              .enablement = "enabled",
                              .fragment = "/usr/lib/systemd/system/a.service",
                              .result = "exit-code",
                              .exit_code = 3,
                              .needs_reload = true};
    auto status = systemd.status("a.service", soon());
    ASSERT_THAT(status, IsOk());
    EXPECT_EQ(*status, expected);
    EXPECT_THAT(fake.calls_of_interest(),
                ElementsAre("LoadUnit(a.service)", "GetAll()", "GetUnitFileState(a.service)"));
}

TEST_F(SystemdStatus, HasTheEffectiveCommandAndItsDropIns) {
    fake.when("GetAll", [](Peer& peer, sd_bus_message* call) {
        constexpr std::uint64_t kNoTime = 0;
        peer.reply(call, "a{sv}", 2,                                                  //
                   "DropInPaths", "as", 2, "/run/a.service.d/1.conf", "/etc/2.conf",  //
                   "ExecStart", "a(sasbttttuii)", 1, "/bin/b", 2, "a", "--flag", 0,   //
                   kNoTime, kNoTime, kNoTime, kNoTime, 0U, 0, 0);
    });
    const auto status = systemd.status("a.service", soon());
    ASSERT_THAT(status, IsOk());
    EXPECT_THAT(status->drop_ins, ElementsAre("/run/a.service.d/1.conf", "/etc/2.conf"));
    EXPECT_THAT(status->commands, ElementsAre(UnitCommand{"/bin/b", {"a", "--flag"}}));
}

/// Also of a type that another version of systemd may have.
TEST_F(SystemdStatus, HasTheSettingsThatChangeTheStart) {
    fake.when("GetAll", [](Peer& peer, sd_bus_message* call) {
        constexpr std::uint64_t kNoTime = 0;
        peer.reply(call, "a{sv}", 8,                                                //
                   "User", "s", "nobody", "Group", "s", "", "DynamicUser", "b", 0,  //
                   "ExecStartPre", "a(sasbttttuii)", 1, "/bin/b", 1, "b", 0,        //
                   kNoTime, kNoTime, kNoTime, kNoTime, 0U, 0, 0,                    //
                   "ExecStop", "a(sasbttttuii)", 0,                                 //
                   "BindPaths", "a(ss)", 2, "a", "b", "c", "d",                     //
                   "Environment", "as", 2, "A=b", "LD_PRELOAD=/x", "ActiveState", "s", "active");
    });
    const auto status = systemd.status("a.service", soon());
    ASSERT_THAT(status, IsOk());
    EXPECT_THAT(status->start_settings,
                ElementsAre("User", "ExecStartPre", "BindPaths", "Environment"));
    EXPECT_EQ(status->active, "active");
}

TEST_F(SystemdStatus, SaysWhetherAJobRuns) {
    for (const char* job : {"/", kJob}) {
        fake.when("GetAll", [job](Peer& peer, sd_bus_message* call) {
            peer.reply(call, "a{sv}", 1, "Job", "(uo)", 7U, job);
        });
        EXPECT_EQ(systemd.status("a.service", soon())->has_job, std::string_view(job) == kJob);
    }
}

TEST_F(SystemdStatus, SaysWhetherTheHostShutsDown) {
    EXPECT_FALSE(systemd.is_stopping(soon()).value());
    fake.when("Get",
              [](Peer& peer, sd_bus_message* call) { peer.reply(call, "v", "s", "stopping"); });
    EXPECT_TRUE(systemd.is_stopping(soon()).value());
}

TEST_F(SystemdStatus, DoesNotTakeASignalForAnExitCode) {
    fake.when("GetAll", service("failed", "signal", CLD_KILLED, SIGTERM));
    EXPECT_EQ(systemd.status("a.service", soon())->exit_code, 0);
}

TEST_F(SystemdStatus, OfAUnitWithoutAFileHasNoEnablement) {
    fake.when("GetUnitFileState", refusal(SD_BUS_ERROR_FILE_NOT_FOUND));
    auto status = systemd.status("a.service", soon());
    ASSERT_THAT(status, IsOk());
    EXPECT_EQ(status->enablement, "");
}

TEST_F(SystemdStatus, IsAnErrorWhereTheFileCannotBeRead) {
    fake.when("GetUnitFileState", refusal("org.freedesktop.systemd1.BadUnitSetting"));
    EXPECT_THAT(systemd.status("a.service", soon()),
                IsError(Code::invalid, "the state of a.service"));
}

TEST_F(SystemdStatus, IsAnErrorWhereTheReplyHasOtherTypes) {
    fake.when("GetAll", [](Peer& peer, sd_bus_message* call) {
        peer.reply(call, "a{sv}", 1, "ActiveState", "u", 1U);
    });
    EXPECT_THAT(systemd.status("a.service", soon()), IsError(Code::internal, "a.service"));
    fake.when("GetAll", [](Peer& peer, sd_bus_message* call) { peer.reply(call, "as", 1, "x"); });
    EXPECT_THAT(systemd.status("a.service", soon()), IsError(Code::internal, "a.service"));
    fake.when("LoadUnit", [](Peer& peer, sd_bus_message* call) { peer.reply(call, ""); });
    EXPECT_THAT(systemd.status("a.service", soon()), IsError(Code::internal, "a.service"));
}

TEST_F(SystemdStatus, FailedIsResetAlsoOfAnUnknownUnit) {
    EXPECT_THAT(systemd.reset_failed("a.service", soon()), IsOk());
    EXPECT_THAT(fake.calls_of_interest(), ElementsAre("ResetFailedUnit(a.service)"));
    fake.when("ResetFailedUnit", refusal("org.freedesktop.systemd1.NoSuchUnit"));
    EXPECT_THAT(systemd.reset_failed("a.service", soon()), IsOk());
    fake.when("ResetFailedUnit", refusal(SD_BUS_ERROR_ACCESS_DENIED));
    EXPECT_THAT(systemd.reset_failed("a.service", soon()), IsError(Code::denied, "a.service"));
}

}  // namespace
}  // namespace kubexm::executor
