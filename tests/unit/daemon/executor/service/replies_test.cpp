#include "daemon/executor/service/replies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kubexm::executor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using Pending = std::map<std::string, std::vector<std::string>>;

TEST(Replies, AnOwnerHasItsPendingRenderings) {
    const auto owners = owners_of({}, {{"a", 1}, {"b", 2}}, {{"b", {"file /etc/x"}}});
    ASSERT_THAT(owners, SizeIs(2));
    EXPECT_THAT(owners[0].pending, IsEmpty());
    EXPECT_THAT(owners[1].pending, ElementsAre("file /etc/x"));
}

TEST(Replies, PendingRenderingsAreBounded) {
    const Pending many{{"a", std::vector<std::string>(1000, std::string(5000, 'x'))}};
    const auto owners = owners_of({}, {{"a", 1000}}, many);
    ASSERT_THAT(owners, SizeIs(1));
    EXPECT_THAT(owners[0].pending, SizeIs(20));
    EXPECT_THAT(owners[0].pending[0], SizeIs(512));
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
