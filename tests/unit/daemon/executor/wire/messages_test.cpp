#include "daemon/executor/wire/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kubexm::wire {
namespace {

using testing::HasSubstr;

const model::Plan kPlan{"plan-1", "owner-1", {model::Sysctl{"net.ipv4.ip_forward", "1"}}};

TEST(Messages, APlanSurvivesARoundTrip) {
    const Apply sent{
        kPlan, {std::string(64, 'a')}, true, model::OnBehalfOf{1000, model::Origin::control}};
    const auto [id, request] = unpack_request(pack(7, sent));
    EXPECT_EQ(id, 7U);
    ASSERT_TRUE(request) << request.error().what;
    const auto& apply = std::get<Apply>(*request);
    EXPECT_EQ(apply.plan, kPlan);
    EXPECT_EQ(apply.contents.size(), 1U);
    EXPECT_TRUE(apply.replace);
    EXPECT_EQ(apply.on_behalf_of, sent.on_behalf_of);
}

TEST(Messages, EveryReplySurvivesARoundTrip) {
    const Reply replies[] = {
        Hello{kProtocol, "kubexm-executor 0.1.0"},
        Refused{"denied", "sysctl kernel.core_pattern is not allowed"},
        Accepted{"plan-1"},
        PreflightResult{{{model::CheckId::port_taken, model::Severity::error, "f", "n", "r"}},
                        {"clock"}},
        StepPreview{3, false, "write /etc/hosts", {"+10.0.0.5 h1"}},
        StepEvent{"plan-1", 3, model::StepState::failed, "write /etc/hosts", "disk full", "1 of 2"},
        PlanSummary{"plan-1",
                    "h",
                    "o",
                    model::PlanPurpose::release,
                    "w",
                    0,
                    model::PlanState::undone,
                    "",
                    {{"file /etc/x", "somebody changed it", true}},
                    1,
                    2},
        Observation{{{"kubelet.service", "active", "enabled"}},
                    {{"o",
                      3,
                      {{model::PlanPurpose::join,
                        "p",
                        "w",
                        990,
                        model::PlanState::failed,
                        "full",
                        {},
                        5}}}},
                    ""},
        PermitsChanged{{model::Permit::any, model::Permit::none}},
        TrustedAuthorities{{{"CN=kubernetes", "ab12"}}},
        UnitsChanged{{{"kubelet.service", "inactive", "masked"}}},
        Drift{{{"o", "write /etc/hosts", "absent"}}},
        JournalEntry{"o", "write /etc/hosts"},
        JournalState{"journal.db.corrupt-1", 1, 2, {"page 3"}},
        End{}};
    for (const Reply& reply : replies) {
        auto again = unpack_reply(pack(7, reply, Part::more));
        ASSERT_TRUE(again) << again.error().what;
        EXPECT_EQ(again->id, 7U);
        EXPECT_EQ(again->part, Part::more);
        EXPECT_EQ(to_json(again->reply), to_json(reply));
        EXPECT_EQ(again->reply.index(), reply.index());
    }
}

TEST(Messages, TheLastReplySaysSo) {
    auto reply = unpack_reply(pack(7, End{}, Part::last));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->part, Part::last);
}

TEST(Messages, AReplyIsNotARequest) {
    const auto refused = unpack_request(pack(7, Accepted{"plan-1"}, Part::last));
    ASSERT_FALSE(refused.request);
    EXPECT_THAT(refused.request.error().what, HasSubstr("frame.request: expected, found none"));
}

TEST(Messages, InvalidUtf8DoesNotLoseTheReply) {
    auto reply = unpack_reply(pack(7, Refused{"invalid", "path \xff\xfe"}, Part::last));
    ASSERT_TRUE(reply);
    EXPECT_THAT(std::get<Refused>(reply->reply).what, testing::StartsWith("path "));
}

TEST(Messages, InvalidRequestsAreRejectedWithAReason) {
    for (const char* frame :
         {"", "{", "[]", "{}", R"({"id":1})", R"({"request":{"type":"observe"}})",
          R"({"id":0,"request":{"type":"observe"}})", R"({"id":-1,"request":{"type":"observe"}})",
          R"({"id":4294967296,"request":{"type":"observe"}})",
          R"({"id":1,"request":{"type":"observe"},"more":1})", R"({"id":1,"request":{"type":7}})",
          R"({"id":1,"request":{"type":"apply"}})",
          R"({"id":1,"request":{"type":"hello","protocol":1}})",
          R"({"id":1,"request":{"type":"hello","protocol":4294967296,"program":"x"}})",
          R"({"id":1,"request":{"type":"hello","protocol":1,"program":"x","more":1}})"}) {
        const auto refused = unpack_request(frame);
        ASSERT_FALSE(refused.request) << frame;
        EXPECT_EQ(refused.request.error().code, Code::invalid);
        EXPECT_THAT(refused.request.error().what, testing::StartsWith("frame"));
    }
}

TEST(Messages, TheIdOfAnInvalidRequestIsKnown) {
    EXPECT_EQ(unpack_request(R"({"id":9,"request":{"type":"shell"}})").id, 9U);
    EXPECT_EQ(unpack_request(R"({"id":"9","request":{"type":"shell"}})").id, 0U);
    EXPECT_EQ(unpack_request("{").id, 0U);
}

TEST(Messages, TheLargestPlanFitsOneFrame) {
    model::Plan plan{"p", "o", {}};
    while (model::to_json(plan).size() < model::kMaxPlanBytes) {
        plan.steps.push_back(model::ManagedBlock{"/etc/hosts", "b", {std::string(4000, 'x')}});
    }
    plan.steps.pop_back();
    EXPECT_LT(pack(UINT32_MAX, Apply{plan, {}, false}).size(), kMaxFrame);
}

}  // namespace
}  // namespace kubexm::wire
