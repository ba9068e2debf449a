#include "daemon/agent/join_checks.hpp"

#include "daemon/kube/signing.hpp"
#include "harness/harness.hpp"

// What kubexmd itself sees before a join: the API server, the clock, the lookup of the host's name.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::CheckId;
using model::Phase;
using testing::ElementsAre;
using testing::IsEmpty;

class JoinChecksScenario : public Harness {
protected:
    std::vector<CheckId> found() const {
        std::vector<CheckId> ids;
        for (const model::Finding& each : snapshot().preflight) ids.push_back(each.id);
        return ids;
    }
    void order_join() {
        start();
        make_secret();
        assign();
        advance(5s);
    }
    std::size_t count_orders() const {
        return count_requests(workload_, std::string("POST ") + kube::kSigningPath);
    }
};

TEST_F(JoinChecksScenario, ACleanHostHasNoFindings) {
    workload_.clock_offset = 299s;
    order_join();
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(JoinChecksScenario, AClockFarFromTheServersStopsTheJoinBeforeTheCertificate) {
    workload_.clock_offset = -2h;
    order_join();
    EXPECT_EQ(phase(), Phase::failed);
    EXPECT_THAT(found(), ElementsAre(CheckId::clock));
    EXPECT_EQ(count_orders(), 0U);
    workload_.clock_offset = 0s;
    advance(30s);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(JoinChecksScenario, AnApiServerThatIsAwayIsNamedAndTriedAgain) {
    workload_.set_available(false);
    order_join();
    EXPECT_EQ(phase(), Phase::joining);
    EXPECT_THAT(found(), ElementsAre(CheckId::api_server));
    workload_.set_available(true);
    advance(30s);
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(JoinChecksScenario, ANameWithoutAnAnswerIsAWarning) {
    answers_lookups_ = false;
    order_join();
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(found(), ElementsAre(CheckId::name_lookup));
}

TEST_F(JoinChecksScenario, FindingsOfTheExecutorComeFirst) {
    executor_.findings = {{CheckId::network_tools, model::Severity::warning, "f", "n", "r"}};
    answers_lookups_ = false;
    order_join();
    EXPECT_THAT(found(), ElementsAre(CheckId::network_tools, CheckId::name_lookup));
}

TEST_F(JoinChecksScenario, WhatRootIgnoresDoesNotStopTheJoin) {
    executor_.ignored = {"clock", "name-lookup"};
    workload_.clock_offset = -2h;
    answers_lookups_ = false;
    order_join();
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(JoinChecksScenario, AnApiServerThatIsAwayIsTriedAgainAlsoWhereRootIgnoresTheCheck) {
    executor_.ignored = {"api-server"};
    workload_.set_available(false);
    order_join();
    EXPECT_EQ(phase(), Phase::joining);
    EXPECT_THAT(found(), IsEmpty());
    workload_.set_available(true);
    advance(1min);
    EXPECT_EQ(phase(), Phase::joined);
}

TEST_F(JoinChecksScenario, AHostThatWaitsShowsAClockFarFromTheManagementClusters) {
    management_.clock_offset = 2h;
    start();
    advance(6min);
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_THAT(found(), ElementsAre(CheckId::clock));
    management_.clock_offset = 1s;
    advance(5min);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(JoinChecksScenario, AHostThatWaitsShowsANameWithoutAnAnswer) {
    answers_lookups_ = false;
    start();
    advance(5s);
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_THAT(found(), ElementsAre(CheckId::name_lookup));
    answers_lookups_ = true;
    advance(5min);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(JoinChecksScenario, AHostThatWaitsDoesNotShowWhatRootIgnores) {
    executor_.ignored = {"clock", "name-lookup"};
    management_.clock_offset = 2h;
    answers_lookups_ = false;
    start();
    advance(6min);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(JoinChecksScenario, ThePlanThatTheExecutorRefusesIsNamedInTheCondition) {
    executor_.refuses_apply_with = "sysctl kernel.panic: expected it as owner hardening";
    order_join();
    EXPECT_EQ(phase(), Phase::failed);
    EXPECT_THAT(reported(kBootstrapped).message,
                testing::HasSubstr("sysctl kernel.panic: expected it as owner hardening"));
    executor_.refuses_apply_with.clear();
    advance(10min);
    EXPECT_EQ(phase(), Phase::joined);
}

TEST(JoinChecks, TheClockMayDifferByFiveMinutes) {
    EXPECT_FALSE(clock_finding(5min));
    EXPECT_FALSE(clock_finding(-5min));
    const auto found = [](std::chrono::seconds offset) {
        return clock_finding(offset).value_or(model::Finding{}).found;
    };
    EXPECT_EQ(found(301s), "this host's clock is 301 s behind the API server's");
    EXPECT_EQ(found(-301s), "this host's clock is 301 s before the API server's");
}

}  // namespace
}  // namespace kubexm::agent
