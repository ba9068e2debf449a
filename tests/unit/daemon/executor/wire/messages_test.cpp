#include "daemon/executor/wire/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kubexm::wire {
namespace {

using testing::HasSubstr;

const model::Plan kPlan{"plan-1", "owner-1", {model::Sysctl{"net.ipv4.ip_forward", "1"}}};

TEST(Messages, APlanSurvivesARoundTrip) {
    auto request = unpack_request(pack(Request{Apply{kPlan, {std::string(64, 'a')}, true}}));
    ASSERT_TRUE(request) << request.error().what;
    const auto& apply = std::get<Apply>(*request);
    EXPECT_EQ(apply.plan, kPlan);
    EXPECT_EQ(apply.contents.size(), 1U);
    EXPECT_TRUE(apply.replace);
}

TEST(Messages, EveryReplySurvivesARoundTrip) {
    const Reply replies[] = {
        Hello{kProtocol, "kubexm-executor 0.1.0"},
        Refused{"denied", "sysctl kernel.core_pattern is not allowed"},
        Accepted{"plan-1"},
        StepPreview{3, false, "write /etc/hosts", {"+10.0.0.5 h1"}},
        StepEvent{"plan-1", 3, "failed", "write /etc/hosts", "disk full", "1 of 2"},
        PlanSummary{"plan-1", "h", "o", "done", "", 1, 2},
        Observation{{{"kubelet.service", "active", "enabled"}}, {"o"}, ""},
        JournalEntry{"o", "write /etc/hosts"},
        JournalState{"journal.db.corrupt-1", 1, 2, {"page 3"}},
        End{}};
    for (const Reply& reply : replies) {
        auto again = unpack_reply(pack(reply));
        ASSERT_TRUE(again) << again.error().what;
        EXPECT_EQ(pack(*again), pack(reply));
        EXPECT_EQ(again->index(), reply.index());
    }
}

TEST(Messages, AReplyIsNotARequest) {
    auto refused = unpack_request(pack(Reply{Accepted{"plan-1"}}));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("request.type: accepted is not known"));
}

TEST(Messages, InvalidUtf8DoesNotLoseTheReply) {
    auto reply = unpack_reply(pack(Reply{Refused{"invalid", "path \xff\xfe"}}));
    ASSERT_TRUE(reply);
    EXPECT_THAT(std::get<Refused>(*reply).what, testing::StartsWith("path "));
}

TEST(Messages, InvalidRequestsAreRejectedWithAReason) {
    for (const char* frame : {"", "{", "[]", "{}", R"({"type":7})", R"({"type":"apply"})",
                              R"({"type":"hello","protocol":1})",
                              R"({"type":"hello","protocol":4294967296,"program":"x"})",
                              R"({"type":"hello","protocol":1,"program":"x","more":1})"}) {
        auto refused = unpack_request(frame);
        ASSERT_FALSE(refused) << frame;
        EXPECT_EQ(refused.error().code, Code::invalid);
        EXPECT_THAT(refused.error().what, testing::StartsWith("request"));
    }
}

TEST(Messages, TheLargestPlanFitsOneFrame) {
    model::Plan plan{"p", "o", {}};
    while (model::to_json(plan).size() < model::kMaxPlanBytes) {
        plan.steps.push_back(model::ManagedBlock{"/etc/hosts", "b", {std::string(4000, 'x')}});
    }
    plan.steps.pop_back();
    EXPECT_LT(pack(Request{Apply{plan, {}, false}}).size(), kMaxFrame);
}

}  // namespace
}  // namespace kubexm::wire
