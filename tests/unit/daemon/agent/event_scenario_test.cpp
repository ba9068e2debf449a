#include "harness/harness.hpp"

// The Events about a ByoHost, over time.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::Phase;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class EventScenario : public Harness {
protected:
    static constexpr std::size_t kMostWrites = 20;

    /// Posts and patches of Events, also those that were refused.
    std::size_t count_writes() const { return count_requests(management_, kEvents); }
    /// The one Event with this reason.
    json the_event(const std::string& reason) const {
        const auto found = events(reason);
        EXPECT_THAT(found, SizeIs(1)) << reason;
        return found.empty() ? json::object() : found.front();
    }
    std::string message_of(const std::string& reason) const {
        return the_event(reason).value("message", "");
    }
    int count_of(const std::string& reason) const { return the_event(reason).value("count", 0); }
    /// Somebody changes an object, and kubexmd repairs it.
    void drift_and_repair() {
        ASSERT_TRUE(command(model::Verb::repair));  // forgets the back-off
        executor_.set_drift({kStopped});
        settle();
    }

    const wire::DriftedObject kStopped{"machine-u1", "unit kubelet.service", "inactive"};
};

TEST_F(EventScenario, AJoinIsToldOnce) {
    join();
    advance(1h);
    const json event = the_event("BootstrapK8sNodeSucceeded");
    const json host = *management_.find(kHost);
    EXPECT_EQ(event.at("/involvedObject/uid"_json_pointer), host.at("/metadata/uid"_json_pointer));
    EXPECT_EQ(event.at("/involvedObject/kind"_json_pointer), "ByoHost");
    EXPECT_EQ(event.at("count"), 1);
    EXPECT_EQ(event.at("firstTimestamp"), event.at("lastTimestamp"));
    EXPECT_TRUE(event.at("/metadata/name"_json_pointer).get<std::string>().starts_with("h1."));
}

TEST_F(EventScenario, ARestartTellsNothing) {
    join();
    assign("u2", "workers-2");
    advance(1min);
    ASSERT_EQ(phase(), Phase::held);
    EXPECT_THAT(message_of("ManualDecisionRequired"), HasSubstr("kubexmctl adopt"));
    const auto before = count_writes();
    const auto since = reported(kAssignmentApplied).since;
    restart();
    advance(1h);
    EXPECT_EQ(phase(), Phase::held);
    EXPECT_EQ(count_writes(), before);
    EXPECT_EQ(reported(kAssignmentApplied).since, since) << "it was never true";
}

TEST_F(EventScenario, ARestartDuringAPauseTellsNothing) {
    join();
    ASSERT_TRUE(command(model::Verb::pause));
    executor_.set_drift({kStopped});
    set_node("False");
    advance(1min);
    EXPECT_THAT(events("HostPaused"), SizeIs(1));
    EXPECT_THAT(events("HostDrifted"), SizeIs(1));
    EXPECT_THAT(events("NodeNotReady"), SizeIs(1));
    const auto before = count_writes();
    restart();
    advance(1h);
    EXPECT_EQ(count_writes(), before);
    ASSERT_TRUE(command(model::Verb::resume));
    EXPECT_THAT(events("HostResumed"), SizeIs(1));
}

TEST_F(EventScenario, DriftAndRepairAreTold) {
    join();
    executor_.set_drift({kStopped});
    settle();
    EXPECT_THAT(message_of("HostDrifted"), HasSubstr("unit kubelet.service: inactive"));
    EXPECT_THAT(message_of("HostDrifted"), HasSubstr("kubexmctl pause"));
    EXPECT_EQ(the_event("HostDrifted").at("type"), "Warning");
    EXPECT_THAT(message_of("HostRepaired"), HasSubstr("unit kubelet.service"));
    EXPECT_EQ(the_event("HostRepaired").at("type"), "Normal");
}

TEST_F(EventScenario, DriftFromBeforeAStartIsTold) {
    join();
    agent_.reset();
    executor_.holds_plans = true;
    executor_.set_drift({kStopped});
    start();
    EXPECT_THAT(message_of("HostDrifted"), HasSubstr("unit kubelet.service: inactive"));
    executor_.holds_plans = false;
    executor_.end_plan(model::PlanState::done);
    settle();
    EXPECT_THAT(message_of("HostRepaired"), HasSubstr("unit kubelet.service"));
}

TEST_F(EventScenario, ARepairBeforeTheManagementClusterAnswersIsToldLater) {
    join();
    management_.set_available(false);
    agent_.reset();
    executor_.set_drift({kStopped});
    start();
    EXPECT_THAT(executor_.repaired, SizeIs(1));
    management_.set_available(true);
    advance(5min);
    EXPECT_THAT(message_of("HostRepaired"), HasSubstr("unit kubelet.service"));
}

TEST_F(EventScenario, AFailedJoinIsOneEventThatCounts) {
    start();
    make_secret();
    executor_.fails_with = "disk full";
    assign();
    advance(5min);
    EXPECT_EQ(message_of("BootstrapK8sNodeFailed"), "disk full");
    EXPECT_EQ(count_of("BootstrapK8sNodeFailed"), static_cast<int>(executor_.applied.size()));
    EXPECT_GT(executor_.applied.size(), 3U);
    EXPECT_THAT(events("BootstrapK8sNodeSucceeded"), IsEmpty());
}

TEST_F(EventScenario, AMissingSecretIsToldAsSuch) {
    start();
    assign();
    advance(1min);
    EXPECT_THAT(message_of("ReadBootstrapSecretFailed"), HasSubstr("workers-1-bootstrap"));
    EXPECT_GT(count_of("ReadBootstrapSecretFailed"), 1);
    EXPECT_THAT(events("BootstrapK8sNodeFailed"), IsEmpty());
}

TEST_F(EventScenario, AReleaseIsToldOnceAlsoIfTheByoHostIsNotFreedAtOnce) {
    join();
    management_.refuse_status = 409;
    management_.refuse_path = "byohosts/h1/status";
    ask_for_release();
    advance(3s);
    EXPECT_THAT(executor_.undone, Not(IsEmpty()));
    EXPECT_THAT(events("ResetK8sNodeSucceeded"), IsEmpty());
    management_.refuse_status = 0;
    advance(10min);
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_THAT(message_of("ResetK8sNodeSucceeded"), HasSubstr("previous state is restored"));
    EXPECT_EQ(count_of("ResetK8sNodeSucceeded"), 1);
    EXPECT_THAT(events("ResetK8sNodeFailed"), IsEmpty());
}

TEST_F(EventScenario, AFailedReleaseIsTold) {
    join();
    executor_.leftovers = {{"content of /var/lib/kubelet", "busy", true}};
    ask_for_release();
    advance(2s);
    EXPECT_THAT(message_of("ResetK8sNodeFailed"), HasSubstr("busy"));
    EXPECT_THAT(events("ResetK8sNodeSucceeded"), IsEmpty());
    executor_.leftovers.clear();
    advance(10min);
    EXPECT_EQ(count_of("ResetK8sNodeSucceeded"), 1);
}

TEST_F(EventScenario, ALeaveIsTold) {
    join();
    ASSERT_TRUE(command(model::Verb::leave));
    advance(10s);
    EXPECT_EQ(count_of("ResetK8sNodeSucceeded"), 1);
    EXPECT_THAT(message_of("ReleasedByPerson"), HasSubstr("kubexmctl resume"));
}

// --- limits

TEST_F(EventScenario, AFightWritesAtMostTwentyEventsAnHourAndTheCountsAddUp) {
    join();
    std::vector<std::chrono::system_clock::time_point> writes;
    management_.on_change = [&](const std::string& path) {
        if (path.starts_with(kEvents)) writes.push_back(time_.now());
    };
    constexpr int kRounds = 90;
    for (int round = 0; round < kRounds; ++round) {
        drift_and_repair();
        advance(1min);
    }
    ASSERT_THAT(executor_.repaired, SizeIs(kRounds));
    EXPECT_LT(count_of("HostDrifted"), kRounds);
    for (std::size_t i = kMostWrites; i < writes.size(); ++i) {
        EXPECT_GE(writes[i] - writes[i - kMostWrites], 1h - 1s);  // the clock has seconds
    }
    EXPECT_GT(writes.size(), kMostWrites) << "the limit is one of each hour";
    advance(50min);
    drift_and_repair();
    EXPECT_EQ(count_of("HostDrifted"), kRounds + 1);
    EXPECT_EQ(count_of("HostRepaired"), kRounds + 1);
    EXPECT_LT(the_event("HostDrifted").at("firstTimestamp"),
              the_event("HostDrifted").at("lastTimestamp"));
}

TEST_F(EventScenario, OtherNewsHasRoomDuringAFight) {
    join();
    for (int round = 0; round < 30; ++round) drift_and_repair();
    set_node("False");
    settle();
    EXPECT_THAT(events("NodeNotReady"), SizeIs(1));
}

TEST_F(EventScenario, NewsBeyondTheLimitIsDropped) {
    join();
    const auto before = count_writes();
    for (int i = 0; i < 50; ++i) {
        executor_.set_drift({{"machine-u1", "file /etc/" + std::to_string(i), "absent"}});
        settle();
    }
    EXPECT_EQ(count_writes(), kMostWrites);
    EXPECT_LT(before, kMostWrites);
}

TEST_F(EventScenario, AProcessThatIsStartedAgainAndAgainWritesNoMore) {
    join();
    for (int i = 0; i < 40; ++i) {
        executor_.set_drift({{"machine-u1", "file /etc/" + std::to_string(i), "absent"}});
        advance(5s);
        restart();
    }
    EXPECT_EQ(count_writes(), kMostWrites);
    advance(1h);
    executor_.set_drift({{"machine-u1", "file /etc/last", "absent"}});
    settle();
    EXPECT_GT(count_writes(), kMostWrites);
}

TEST_F(EventScenario, AnEventThatExpiredIsCreatedAgain) {
    join();
    drift_and_repair();
    const auto name = the_event("HostDrifted").at("/metadata/name"_json_pointer).get<std::string>();
    management_.erase(std::string(kEvents) + "/" + name);
    drift_and_repair();
    EXPECT_EQ(count_of("HostDrifted"), 2);
    drift_and_repair();
    EXPECT_EQ(count_of("HostDrifted"), 3);
}

TEST_F(EventScenario, ARepeatAfterHoursIsANewEvent) {
    join();
    drift_and_repair();
    advance(2h);
    drift_and_repair();
    EXPECT_THAT(events("HostDrifted"), SizeIs(2));
}

TEST_F(EventScenario, ARefusalDoesNoHarmAndIsLoggedOnce) {
    testing::internal::CaptureStderr();
    management_.refuse_status = 403;
    management_.refuse_path = "/events";
    join();
    for (int round = 0; round < 30; ++round) {
        drift_and_repair();
        advance(1min);
    }
    const std::string log = testing::internal::GetCapturedStderr();
    const auto first = log.find("cannot write an Event");
    EXPECT_NE(first, std::string::npos);
    EXPECT_EQ(log.find("cannot write an Event", first + 1), std::string::npos);
    EXPECT_THAT(executor_.repaired, SizeIs(30));
    EXPECT_EQ(reported(kBootstrapped).status, model::ConditionStatus::yes);
    EXPECT_LE(count_writes(), kMostWrites);
    EXPECT_THAT(management_.all(kEvents), IsEmpty());
    management_.refuse_status = 0;
    advance(50min);
    drift_and_repair();
    EXPECT_EQ(count_of("HostDrifted"), 31);
}

TEST_F(EventScenario, NothingIsWrittenForAHostThatTheManagementClusterPaused) {
    join();
    management_.patch(kHost, {{"metadata", {{"annotations", {{"cluster.x-k8s.io/paused", ""}}}}}});
    settle();
    const auto before = count_writes();
    set_node("False");
    advance(1min);
    EXPECT_EQ(count_writes(), before);
}

TEST_F(EventScenario, AByoHostThatWasRegisteredAgainHasEventsOfItsOwn) {
    join();
    drift_and_repair();
    management_.erase(kHost);
    advance(1min);
    assign();
    drift_and_repair();
    const auto found = events("HostDrifted");
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_NE(found[0].at("/involvedObject/uid"_json_pointer),
              found[1].at("/involvedObject/uid"_json_pointer));
}

}  // namespace
}  // namespace kubexm::agent
