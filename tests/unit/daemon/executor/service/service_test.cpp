#include <sys/syscall.h>
#include <unistd.h>

#include "service_host.hpp"

// Requests and their ids on one connection.

namespace kubexm::executor {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ServiceTest : public ServiceHost {};

TEST_F(ServiceTest, WantsAHelloFirst) {
    WireClient client = connected();
    EXPECT_THAT(refusal_in(client.ask(3, wire::Observe{})),
                HasSubstr("the first request must be a hello"));
    EXPECT_TRUE(std::holds_alternative<wire::Hello>(client.hello()));
}

TEST_F(ServiceTest, RefusesAnotherProtocol) {
    WireClient client = connected();
    EXPECT_THAT(refusal_in(client.ask(1, wire::Hello{1, "kubexmd 0.0.1"})),
                HasSubstr("speaks protocol 2, kubexmd 0.0.1 speaks 1"));
}

TEST_F(ServiceTest, RefusesAndDropsAStranger) {
    if (!is_root()) GTEST_SKIP() << "only root can become somebody else";
    fs::permissions(scratch_.top(), fs::perms::all);
    fs::permissions(path(), fs::perms::all);
    start();
    // Of this thread only; libc would change all of them.
    ASSERT_EQ(::syscall(SYS_setresuid, -1, 65534, -1), 0);
    WireClient client = connected();
    ASSERT_EQ(::syscall(SYS_setresuid, -1, 0, -1), 0);
    EXPECT_THAT(refusal_in(client.ask(1, wire::Hello{wire::kProtocol, "x"})),
                StartsWith("denied: user 65534 is not permitted"));
    EXPECT_FALSE(client.receive());
}

TEST_F(ServiceTest, RefusesAnInvalidRequestByItsIdAndHangsUp) {
    WireClient client = greeted();
    client.send_text(R"({"id":9,"request":{"type":"shell"}})");
    const auto reply = client.received();
    EXPECT_EQ(reply.id, 9U);
    EXPECT_THAT(refusal_in(reply.reply), StartsWith("invalid: frame.request.type"));
    EXPECT_FALSE(client.receive());
}

TEST_F(ServiceTest, RefusesAFrameWithoutIdAsTheConnection) {
    WireClient client = greeted();
    client.send_text("{");
    const auto reply = client.received();
    EXPECT_EQ(reply.id, 0U);
    EXPECT_THAT(refusal_in(reply.reply), HasSubstr("not JSON"));
    EXPECT_FALSE(client.receive());
}

TEST_F(ServiceTest, HangsUpWhereAnIdIsOpenAlready) {
    WireClient client = greeted();
    client.send(5, wire::Subscribe{});
    client.send(5, wire::Observe{});
    auto reply = client.received();
    while (reply.id == 5) reply = client.received();  // events
    EXPECT_EQ(reply.id, 0U);
    EXPECT_THAT(refusal_in(reply.reply), HasSubstr("request 5 has no last reply yet"));
    EXPECT_FALSE(client.receive());
}

TEST_F(ServiceTest, AnIdIsFreeAfterItsLastReply) {
    WireClient client = greeted();
    EXPECT_TRUE(std::holds_alternative<wire::End>(client.ask(5, wire::History{})));
    EXPECT_TRUE(std::holds_alternative<wire::End>(client.ask(5, wire::History{})));
}

TEST_F(ServiceTest, AnswersALaterRequestWhileOthersWait) {
    WireClient client = greeted();
    hold_worker();
    client.send(7, wire::History{});
    client.send(6, wire::Follow{"nobody"});
    client.send(8, wire::Hello{wire::kProtocol, "a test"});
    EXPECT_EQ(client.received().id, 8U);
    release_worker();
    const auto history = client.received();
    EXPECT_EQ(history.id, 7U);
    EXPECT_TRUE(std::holds_alternative<wire::End>(history.reply));
    const auto follow = client.received();
    EXPECT_EQ(follow.id, 6U);
    EXPECT_THAT(refusal_in(follow.reply), StartsWith("not_found: "));
}

TEST_F(ServiceTest, TakesDescriptorsWithAPlanOnly) {
    WireClient client = greeted();
    client.send(5, wire::Observe{}, {STDERR_FILENO});
    EXPECT_THAT(refusal_in(client.last(5)), HasSubstr("only apply takes descriptors"));
    client.send(6, wire::Apply{own_plan("p1"), {}, false}, {STDERR_FILENO});
    EXPECT_THAT(refusal_in(client.last(6)), HasSubstr("as many descriptors as contents"));
}

TEST_F(ServiceTest, AuditsAClaimBesideTheCaller) {
    {
        WireClient client = greeted();
        const model::OnBehalfOf claim{4711, model::Origin::control};
        EXPECT_THAT(refusal_in(client.ask(5, wire::Cancel{"p0", claim})),
                    StartsWith("not_found: plan p0 is not running"));
        client.send(6, wire::Apply{own_plan("p1"), {}, false, claim});
        EXPECT_TRUE(std::holds_alternative<wire::Accepted>(client.last(6)));
        client.ask(7, wire::Follow{"p1"});
        EXPECT_EQ(std::get<wire::PlanSummary>(client.ask(8, wire::Follow{"p1"})).uid, ::geteuid());
    }
    const auto events = audited_events();
    const std::string claimed = " (on behalf of user 4711, control, as the client says)";
    EXPECT_THAT(events, testing::Contains("refused: plan p0 is not running" + claimed));
    EXPECT_THAT(events, testing::Contains(testing::AllOf(StartsWith("plan offered: p1 "),
                                                         testing::EndsWith(claimed))));
}

}  // namespace
}  // namespace kubexm::executor
