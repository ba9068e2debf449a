#include "daemon/plan/renewal_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/plan/join.hpp"

namespace kubexm::plan {
namespace {

TEST(ClientRenewal, ReplacesWhatTheJoinWroteForTheClientAndNothingElse) {
    const std::string digest(64, 'b');
    const model::Plan renewal = make_client_renewal("machine-1", digest, "renew-1");
    EXPECT_EQ(renewal.owner, "machine-1");
    EXPECT_EQ(renewal.purpose, model::PlanPurpose::renew);
    const model::Plan join = make_join({.owner = "machine-1",
                                        .node_name = "h1",
                                        .server = "https://10.0.0.1:6443",
                                        .minor = 34,
                                        .ca_digest = std::string(64, 'a'),
                                        .client_ca_digest = std::string(64, 'a'),
                                        .client_digest = digest,
                                        .serving_digest = std::string(64, 'd')},
                                       "join-1");
    ASSERT_EQ(renewal.steps.size(), 2U);
    for (const model::Step& step : renewal.steps) EXPECT_THAT(join.steps, testing::Contains(step));
}

}  // namespace
}  // namespace kubexm::plan
