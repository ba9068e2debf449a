#include <csignal>

#include "systemd_test.hpp"

namespace kubexm::executor {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const TransientCommand kCommand{"a.service", "a test", {"/bin/tool", "--flag", "$HOME"}};

/// Properties of the unit on the fake bus.
struct UnitState {
    std::string active = "activating";
    std::string result = "success";
    int main_code = 0;
    int main_status = 0;
    std::string job = kJob;
    bool transient = true;
    std::string flag = "--flag";
};

FakeSystemd::Answer reply_with(const UnitState& unit) {
    return [unit](Peer& peer, sd_bus_message* call) {
        peer.reply(call, "a{sv}", 7,                          //
                   "ActiveState", "s", unit.active.c_str(),   //
                   "Transient", "b", unit.transient ? 1 : 0,  //
                   "Job", "(uo)", 7U, unit.job.c_str(),       //
                   "Result", "s", unit.result.c_str(),        //
                   "ExecMainCode", "i", unit.main_code,       //
                   "ExecMainStatus", "i", unit.main_status,   //
                   "ExecStart", "a(sasbttttuii)", 1, "/bin/tool", 3, "/bin/tool",
                   unit.flag.c_str(),  //
                   "$HOME", 0, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0},
                   std::uint64_t{0}, 0U, 0, 0);
    };
}

class SystemdRun : public SystemdTest {
protected:
    /// The unit of the command exists already.
    void have_unit(const UnitState& unit) {
        fake.when("RefUnit", [](Peer& peer, sd_bus_message* call) { peer.reply(call, ""); });
        fake.when("GetAll", reply_with(unit));
    }
};

TEST_F(SystemdRun, SendsTheCommandAndItsProperties) {
    fake.when("GetAll", reply_with({.active = "inactive", .main_code = CLD_EXITED}));
    auto code = systemd.run(kCommand, in(60s));
    ASSERT_THAT(code, IsOk());
    EXPECT_EQ(*code, 0);
    const auto calls = fake.calls_of_interest();
    ASSERT_EQ(calls.at(0), "RefUnit(a.service)");
    EXPECT_EQ(calls.at(1).find("StartTransientUnit(a.service, fail, ["), 0U) << calls.at(1);
    for (const char* property :
         {"(Type, oneshot)", "(CollectMode, inactive-or-failed)", "(AddRef, 1)",
          "(Description, a test)", "(StandardOutput, journal)", "(NoNewPrivileges, 1)",
          "(TimeoutStartUSec, 5",  // just under 60 s
          "(ExecStartEx, [(/bin/tool, [/bin/tool, --flag, $HOME], [no-env-expand])])"}) {
        EXPECT_THAT(calls.at(1), HasSubstr(property));
    }
    EXPECT_EQ(calls.back(), "UnrefUnit(a.service)");
}

struct Ending {
    std::string job;
    UnitState unit;
    Result<std::int32_t> expected;
};

TEST_F(SystemdRun, ReturnsTheExitCodeOrAnErrorWithTheEnd) {
    const std::vector<Ending> endings = {
        {"done", {.active = "inactive", .main_code = CLD_EXITED}, 0},
        {"failed",
         {.active = "failed", .result = "exit-code", .main_code = CLD_EXITED, .main_status = 3},
         3},
        {"failed",
         {.active = "failed", .result = "signal", .main_code = CLD_KILLED, .main_status = 9},
         fail(Code::unavailable, "signal 9")},
        {"failed",
         {.active = "failed", .result = "core-dump", .main_code = CLD_DUMPED, .main_status = 11},
         fail(Code::unavailable, "signal 11")},
        {"failed",
         {.active = "failed", .result = "timeout", .main_code = CLD_KILLED, .main_status = 15},
         fail(Code::timeout, "deadline")},
        {"failed",
         {.active = "failed", .result = "oom-kill", .main_code = CLD_EXITED, .main_status = 0},
         fail(Code::unavailable, "exited with 0 (job failed, unit oom-kill)")},
        {"dependency",
         {.active = "inactive"},
         fail(Code::unavailable, "could not be started (job dependency")},
        {"canceled", {.active = "deactivating"}, fail(Code::cancelled, "was stopped")},
    };
    for (const auto& [job, unit, expected] : endings) {
        fake.when("StartTransientUnit", job_that_ends(job));
        fake.when("GetAll", reply_with(unit));
        auto code = systemd.run(kCommand, soon());
        if (expected) {
            EXPECT_EQ(code, expected);
        } else {
            EXPECT_THAT(code, IsError(expected.error().code, expected.error().what));
            EXPECT_THAT(code, IsError(expected.error().code, "/bin/tool in a.service"));
        }
        EXPECT_EQ(fake.calls_of_interest().back(), "UnrefUnit(a.service)");
    }
}

TEST_F(SystemdRun, AttachesToTheSameCommand) {
    have_unit({});
    std::thread meanwhile([&] {
        while (!testing::Value(fake.calls(), Contains("GetAll()"))) std::this_thread::yield();
        fake.when("GetAll",
                  reply_with({.result = "exit-code", .main_code = CLD_EXITED, .main_status = 4}));
        fake.act([](Peer& peer) { peer.end_job(kJob, "failed"); });
    });
    EXPECT_EQ(systemd.run(kCommand, soon()), 4);
    meanwhile.join();
    EXPECT_THAT(fake.calls_of_interest(), Contains(HasSubstr("StartTransientUnit")).Times(0));
    EXPECT_EQ(fake.calls_of_interest().back(), "UnrefUnit(a.service)");
}

TEST_F(SystemdRun, RefusesAnotherCommandInTheUnit) {
    for (const UnitState& other :
         {UnitState{.flag = "--other"}, UnitState{.active = "active", .transient = false}}) {
        have_unit(other);
        EXPECT_THAT(systemd.run(kCommand, soon()), IsError(Code::conflict, "a.service"));
    }
    EXPECT_THAT(fake.calls_of_interest(), Contains(HasSubstr("StartTransientUnit")).Times(0));
    EXPECT_EQ(fake.calls_of_interest().back(), "UnrefUnit(a.service)");
}

TEST_F(SystemdRun, StartsAgainAfterAUnitThatIsStoppingOrStopped) {
    for (const char* active : {"deactivating", "inactive", "failed"}) {
        have_unit({.active = active, .job = "/"});
        const bool is_ending = active == std::string("deactivating");
        fake.when("StopUnit", job_that_ends("done"));
        fake.when("StartTransientUnit", [](Peer& peer, sd_bus_message* call) {
            peer.reply(call, "o", "/job/8");
            peer.end_job("/job/8", "done");
        });
        const auto before = fake.calls_of_interest().size();
        EXPECT_FALSE(systemd.run(kCommand, soon())) << "the fake has no exit code";
        auto calls = fake.calls_of_interest();
        calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(before));
        EXPECT_THAT(calls, Contains("StopUnit(a.service, replace)").Times(is_ending ? 1 : 0))
            << active;
        EXPECT_THAT(calls, Contains(HasSubstr("StartTransientUnit")).Times(1)) << active;
        EXPECT_THAT(calls, Contains("UnrefUnit(a.service)").Times(2)) << active;
    }
}

TEST_F(SystemdRun, IsAConflictWhereTheNameIsTaken) {
    fake.when("StartTransientUnit", refusal("org.freedesktop.systemd1.UnitExists"));
    EXPECT_THAT(systemd.run(kCommand, soon()), IsError(Code::conflict, "a.service"));
    EXPECT_THAT(fake.calls_of_interest(), Contains("UnrefUnit(a.service)").Times(0));
}

TEST_F(SystemdRun, StopsTheCommandAtTheDeadline) {
    fake.when("StartTransientUnit", answer_with_endless_job);
    ASSERT_THAT(systemd.reload(soon()), IsOk());  // connected: the deadline is the command's
    EXPECT_THAT(systemd.run(kCommand, in(1s)), IsError(Code::timeout, "a.service"));
    const auto calls = fake.calls_of_interest();
    EXPECT_THAT(calls, Contains("StopUnit(a.service, replace)"));
    EXPECT_EQ(calls.back(), "UnrefUnit(a.service)");
}

TEST_F(SystemdRun, IsLostWithTheConnection) {
    fake.when("StartTransientUnit", [](Peer& peer, sd_bus_message* call) {
        peer.reply(call, "o", kJob);
        peer.hang_up();
    });
    EXPECT_THAT(systemd.run(kCommand, soon()), IsError(Code::unavailable, "a.service"));
}

TEST_F(SystemdRun, RefusesAnInvalidCommand) {
    const std::vector<std::pair<TransientCommand, std::string>> bad = {
        {{"a.mount", "", {"/bin/true"}}, "ends in .service"},
        {{"a.service", "", {}}, "absolute path"},
        {{"a.service", "", {"true"}}, "absolute path"},
        {{"a.service", "", {"/bin/true", std::string("a\0b", 3)}}, "NUL"},
    };
    for (const auto& [command, expected] : bad) {
        EXPECT_THAT(systemd.run(command, soon()), IsError(Code::invalid, expected));
    }
    EXPECT_THAT(fake.calls(), IsEmpty());
}

TEST_F(SystemdRun, RefusesTextThatIsNotUtf8) {
    EXPECT_THAT(systemd.run({"a.service", "", {"/bin/true", "\xff"}}, soon()),
                IsError(Code::invalid, "a.service"));
    EXPECT_THAT(fake.calls_of_interest(), ElementsAre("RefUnit(a.service)"));
}

TEST_F(SystemdRun, DescribesOnOneLine) {
    fake.when("GetAll", reply_with({.active = "inactive", .main_code = CLD_EXITED}));
    ASSERT_THAT(systemd.run({"a.service", "one\n[Service]", {"/bin/true"}}, soon()), IsOk());
    EXPECT_THAT(fake.calls_of_interest().at(1), HasSubstr(R"((Description, one\n[Service]))"));
}

}  // namespace
}  // namespace kubexm::executor
