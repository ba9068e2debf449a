#include "daemon/executor/host/runtime.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/executor/host/protobuf.hpp"
#include "scratch.hpp"

namespace kubexm::executor {
namespace {

using namespace std::string_literals;
using protobuf::field;
using testing::ElementsAre;
using testing::IsEmpty;

std::string pod(const std::string& id) {
    const std::string metadata = field(1, "name") + field(2, "uid") + field(3, "default");
    return field(1, field(1, id) + field(2, metadata) + "\x18\x01" + field(5, "label"));
}

TEST(Runtime, ReadsTheIdsOfPods) {
    EXPECT_THAT(*pods_in(pod("b2") + pod("a1")), ElementsAre("a1", "b2"));
    EXPECT_THAT(*pods_in(""), IsEmpty());
}

TEST(Runtime, RefusesAnInvalidId) {
    for (const std::string& id : {""s, "../../etc"s, "a b"s, "\x1b[2J"s, std::string(129, 'a')}) {
        EXPECT_THAT(pods_in(pod(id)), IsError(Code::invalid, "pod id")) << id;
    }
    EXPECT_THAT(pods_in("\x0a\x05"
                        "abc"),
                IsError(Code::invalid, "ListPodSandbox response"));
    EXPECT_THAT(pods_in(field(1,
                              "\x0a\x09"
                              "abc")),
                IsError(Code::invalid, "pod in a ListPodSandbox"));
}

}  // namespace
}  // namespace kubexm::executor
