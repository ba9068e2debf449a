#include "daemon/executor/service/replies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/model/remaining.hpp"

namespace kubexm::executor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Replies, AnOwnerHasItsPendingRenderings) {
    const auto owners = owners_of({}, {{"a", 1}, {"b", 2}}, {{"b", {"file /etc/x"}}});
    ASSERT_THAT(owners, SizeIs(2));
    EXPECT_THAT(owners[0].pending, IsEmpty());
    EXPECT_THAT(owners[1].pending, ElementsAre("file /etc/x"));
}

/// Of root, or cancelled: more objects stay than a reply can name.
TEST(Replies, AnUndoThatLeavesManyObjectsIsObserved) {
    std::vector<model::Remaining> stays(700, {"link /etc/x", std::string(1000, 'x'), false});
    stays.front().blocks_join = true;
    const OutcomeRecord undo{.owner = "machine-1",
                             .purpose = PlanPurpose::release,
                             .state = PlanState::cancelled,
                             .stays = model::to_json(stays)};
    const wire::Observation sent{.owners = owners_of({undo}, {{"machine-1", 700}}, {})};
    const auto got = wire::unpack_reply(wire::pack(7, sent, wire::Part::last));
    ASSERT_TRUE(got) << got.error().what;
    const auto outcome = std::get<wire::Observation>(got->reply).owners.at(0).outcomes.at(0);
    EXPECT_EQ(outcome.stays.size() + outcome.unnamed, 700U);
    EXPECT_TRUE(outcome.stays.front().blocks_join);
}

TEST(Replies, PendingRenderingsPassTheWire) {
    wire::Observation sent;
    sent.owners = owners_of({}, {{"a", 1}}, {{"a", {"file /etc/x"}}});
    const auto got = wire::unpack_reply(wire::pack(7, sent, wire::Part::last));
    ASSERT_TRUE(got) << got.error().what;
    EXPECT_EQ(std::get<wire::Observation>(got->reply).owners, sent.owners);
}

}  // namespace
}  // namespace kubexm::executor
