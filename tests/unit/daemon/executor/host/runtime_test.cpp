#include "daemon/executor/host/runtime.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/executor/host/protobuf.hpp"
#include "scratch.hpp"

namespace kubexm::executor {
namespace {

using namespace std::string_literals;
using protobuf::member;
using testing::ElementsAre;
using testing::IsEmpty;

std::string pod(const std::string& id) {
    const std::string metadata = member(1, "name") + member(2, "uid") + member(3, "default");
    return member(1, member(1, id) + member(2, metadata) + "\x18\x01" + member(5, "label"));
}

TEST(Runtime, ReadsTheIdsOfPods) {
    EXPECT_THAT(*pods_in(pod("b2") + pod("a1")), ElementsAre("a1", "b2"));
    EXPECT_THAT(*pods_in(""), IsEmpty());
}

TEST(Runtime, TakesNothingForAnIdThatIsNone) {
    for (const std::string& id : {""s, "../../etc"s, "a b"s, "\x1b[2J"s, std::string(129, 'a')}) {
        EXPECT_THAT(pods_in(pod(id)), IsError(Code::invalid, "the id of a pod")) << id;
    }
    EXPECT_THAT(pods_in("\x0a\x05"
                        "abc"),
                IsError(Code::invalid, "list of pods"));
    EXPECT_THAT(pods_in(member(1,
                               "\x0a\x09"
                               "abc")),
                IsError(Code::invalid, "pod in a list"));
}

}  // namespace
}  // namespace kubexm::executor
