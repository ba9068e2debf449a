#include "daemon/executor/engine/quota.hpp"

#include <gtest/gtest.h>

#include "engine_host.hpp"

namespace kubexm::executor {
namespace {

constexpr std::int64_t kQuotaNow = 1'000'000;
constexpr Quota kQuota{.entries = 10, .owners = 2, .vault_bytes = 100, .offers = 3};

TEST(Quota, IsUsedToItsEnd) {
    EXPECT_TRUE(within(kQuota, {.entries = 6, .owners = 1, .vault_bytes = 90, .offers = 2},
                       {.entries = 4, .owners = 1, .vault_bytes = 10}, kQuotaNow));
}

TEST(Quota, NamesLimitUsedAndNeeded) {
    EXPECT_THAT(within(kQuota, {.entries = 7}, {.entries = 4}, kQuotaNow),
                IsError(Code::exhausted, "objects in the ledger: at most 10, used 7, needed 4"));
    EXPECT_THAT(within(kQuota, {.owners = 2}, {.owners = 1}, kQuotaNow),
                IsError(Code::exhausted, "owners: at most 2, used 2, needed 1"));
    EXPECT_THAT(within(kQuota, {.vault_bytes = 60}, {.vault_bytes = 41}, kQuotaNow),
                IsError(Code::exhausted, "bytes in the vault: at most 100, used 60, needed 41"));
}

TEST(Quota, OfANodeThatIsThereStopsNoPlanThatAddsNothing) {
    EXPECT_TRUE(within(kQuota, {.entries = 99, .owners = 9, .vault_bytes = 999}, {}, kQuotaNow));
}

TEST(Quota, OfPlansSaysWhenItIsFree) {
    EXPECT_THAT(
        within(kQuota, {.offers = 3, .first_offer_at = kQuotaNow - 3600 + 61}, {}, kQuotaNow),
        IsError(Code::exhausted, "at most 3, used 3; free again in 2 minutes"));
    EXPECT_THAT(within(kQuota, {.offers = 3, .first_offer_at = kQuotaNow + 99999}, {}, kQuotaNow),
                IsError(Code::exhausted, "free again in 60 minutes"));
}

class QuotaOfEngine : public EngineHost {};

TEST_F(QuotaOfEngine, StopsKubexmdAndNeitherRootNorAReturn) {
    ASSERT_THAT(applied(link_plan("first")), IsState(PlanState::done));
    for (std::int64_t i = 1; i < Quota{}.offers; ++i) engine.note(kAgentCaller, kPlanOffered, "");
    EXPECT_THAT(applied(link_plan("more")), IsError(Code::exhausted, "quota of plans an hour"));
    model::Plan roots = link_plan("root", "/etc/other");
    roots.owner = "root";
    EXPECT_THAT(applied(roots, kRootCaller), IsState(PlanState::done));
    const auto undo = engine.accept_undo("undo", "machine-1", kAgentCaller);
    ASSERT_TRUE(undo);
    EXPECT_THAT(carried_out(*undo), IsState(PlanState::undone));
    EXPECT_THAT(engine.accept_undo("again", "machine-1", kAgentCaller),
                IsError(Code::exhausted, "quota of plans an hour"));
}

}  // namespace
}  // namespace kubexm::executor
