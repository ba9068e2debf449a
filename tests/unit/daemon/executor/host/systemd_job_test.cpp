#include "daemon/executor/host/jobs.hpp"
#include "systemd_test.hpp"

namespace kubexm::executor {
namespace {

using SystemdJob = SystemdTest;
using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;

TEST_F(SystemdJob, IsQueuedAsBySystemctl) {
    EXPECT_THAT(systemd.start("a.service", soon()), IsOk());
    EXPECT_THAT(systemd.stop("b.mount", soon()), IsOk());
    EXPECT_THAT(systemd.restart("c@1.service", soon()), IsOk());
    EXPECT_THAT(fake.calls_of_interest(),
                ElementsAre("StartUnit(a.service, replace)", "StopUnit(b.mount, replace)",
                            "RestartUnit(c@1.service, replace)"));
}

TEST_F(SystemdJob, IsQueuedAfterTheSubscriptionWhichEndsWithIt) {
    ASSERT_THAT(systemd.start("a.service", soon()), IsOk());
    ASSERT_THAT(systemd.reload(soon()), IsOk());
    EXPECT_THAT(fake.calls(),
                ElementsAre("Hello()", HasSubstr("NameOwnerChanged"), HasSubstr("GetNameOwner"),
                            AllOf(HasSubstr("AddMatch"), HasSubstr("JobRemoved")), "Subscribe()",
                            "StartUnit(a.service, replace)", "Unsubscribe()",
                            AllOf(HasSubstr("RemoveMatch"), HasSubstr("JobRemoved")), "Reload()"));
}

TEST_F(SystemdJob, MayEndBeforeTheReplyThatNamesIt) {
    fake.when("StartUnit", [](Peer& peer, sd_bus_message* call) {
        peer.end_job(kJob, "done");
        peer.reply(call, "o", kJob);
    });
    EXPECT_THAT(systemd.start("a.service", soon()), IsOk());
}

TEST_F(SystemdJob, IsDistinguishedFromOtherJobs) {
    fake.when("StartUnit", [](Peer& peer, sd_bus_message* call) {
        peer.end_job("/org/freedesktop/systemd1/job/6", "failed");
        peer.reply(call, "o", kJob);
        peer.end_job("/org/freedesktop/systemd1/job/77", "failed");
        peer.signal("JobNew", "uos", 7U, kJob, "a.service");
        peer.signal("JobRemoved", "s", "other types");
        // Any client of a system bus may send signals.
        peer.emit(":1.66", "org.freedesktop.systemd1.Manager", "JobRemoved", "uoss", 7U, kJob,
                  "a.service", "failed");
        peer.emit(":1.66", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
                  "org.freedesktop.systemd1", kOwner, "");
        peer.end_job(kJob, "done");
    });
    EXPECT_THAT(systemd.start("a.service", soon()), IsOk());
}

TEST_F(SystemdJob, ThatFailsIsAnErrorWithItsResultAndThatOfTheUnit) {
    fake.when("GetAll", [](Peer& peer, sd_bus_message* call) {
        peer.reply(call, "a{sv}", 2, "ActiveState", "s", "failed", "Result", "s", "exit-code");
    });
    for (const char* result : {"failed", "timeout", "dependency", "skipped", "assert"}) {
        fake.when("StartUnit", job_that_ends(result));
        auto failed = systemd.start("a.service", soon());
        EXPECT_THAT(failed, IsError(Code::unavailable, "StartUnit a.service"));
        EXPECT_THAT(failed, IsError(Code::unavailable, result));
        EXPECT_THAT(failed, IsError(Code::unavailable, "failed (exit-code)"));
    }
}

TEST_F(SystemdJob, ThatIsCancelledIsAnError) {
    fake.when("StopUnit", job_that_ends("canceled"));
    EXPECT_THAT(systemd.stop("a.service", soon()), IsError(Code::cancelled, "StopUnit a.service"));
}

TEST_F(SystemdJob, IsCancelledAtTheDeadline) {
    fake.when("StartUnit", answer_with_endless_job);
    fake.when("Cancel", [](Peer& peer, sd_bus_message* call) {
        EXPECT_STREQ(sd_bus_message_get_path(call), kJob);
        peer.reply(call, "");
        peer.end_job(kJob, "canceled");
    });
    ASSERT_THAT(systemd.reload(soon()), IsOk());  // connected: the deadline is the job's
    EXPECT_THAT(systemd.start("a.service", in(1s)), IsError(Code::timeout, "StartUnit a.service"));
    EXPECT_THAT(fake.calls_of_interest(),
                ElementsAre("Reload()", "StartUnit(a.service, replace)", "Cancel()"));
}

TEST_F(SystemdJob, IsReportedEverySecondAtFirst) {
    fake.when("StartUnit", answer_with_endless_job);
    std::vector<std::chrono::seconds> reported;
    systemd.on_wait([&](const std::string& unit, std::chrono::seconds waited) {
        EXPECT_EQ(unit, "a.service");
        reported.push_back(waited);
        if (reported.size() == 2) fake.act([](Peer& peer) { peer.end_job(kJob, "done"); });
    });
    EXPECT_THAT(systemd.start("a.service", soon()), IsOk());
    EXPECT_THAT(reported, ElementsAre(Ge(1s), Ge(2s)));
}

TEST(ReportInterval, GrowsWithTheWait) {
    EXPECT_EQ(report_interval(0s), 1s);
    EXPECT_EQ(report_interval(4s), 1s);
    EXPECT_EQ(report_interval(40s), 10s);
    EXPECT_EQ(report_interval(1h), 30s);
}

TEST_F(SystemdJob, EndsAtTheDeadlineDespiteAFloodOfSignals) {
    fake.when("StartUnit", answer_with_endless_job);
    ASSERT_THAT(systemd.reload(soon()), IsOk());
    const auto deadline = in(100ms);
    fake.repeat([deadline](Peer& peer) {
        for (int i = 0; i < 100; ++i) peer.end_job("/other", "done");
        // Only a client that reads on after the deadline sees it.
        if (std::chrono::steady_clock::now() > deadline + 500ms) peer.end_job(kJob, "done");
    });
    EXPECT_THAT(systemd.start("a.service", deadline), IsError(Code::timeout, ""));
}

TEST_F(SystemdJob, IsNotQueuedAfterTheDeadline) {
    ASSERT_THAT(systemd.reload(soon()), IsOk());
    EXPECT_THAT(systemd.start("a.service", in(-1ms)), IsError(Code::timeout, ""));
    EXPECT_THAT(fake.calls_of_interest(), ElementsAre("Reload()"));
}

TEST_F(SystemdJob, IsLostWithTheConnectionAndTheNextUsesANewOne) {
    fake.when_first("StartUnit", [](Peer& peer, sd_bus_message* call) {
        peer.reply(call, "o", kJob);
        peer.hang_up();
    });
    EXPECT_THAT(systemd.start("a.service", soon()),
                IsError(Code::unavailable, "StartUnit a.service"));
    EXPECT_THAT(systemd.start("a.service", soon()), IsOk());
}

TEST_F(SystemdJob, IsLostWithTheConnectionBeforeTheReply) {
    fake.when_first("StartUnit", [](Peer& peer, sd_bus_message*) { peer.hang_up(); });
    EXPECT_THAT(systemd.start("a.service", soon()), IsError(Code::unavailable, ""));
    EXPECT_THAT(systemd.start("a.service", soon()), IsOk());
}

TEST_F(SystemdJob, IsLostWhenSystemdIsReplacedAndTheNextGoesToTheNewOne) {
    fake.when_first("StartUnit", answer_with_endless_job);
    std::thread meanwhile([&] {
        while (fake.calls_of_interest().empty()) std::this_thread::yield();
        fake.replace_systemd();
    });
    EXPECT_THAT(systemd.start("a.service", soon()), IsError(Code::unavailable, "replaced"));
    meanwhile.join();
    EXPECT_THAT(systemd.start("a.service", soon()), IsOk());
}

}  // namespace
}  // namespace kubexm::executor
