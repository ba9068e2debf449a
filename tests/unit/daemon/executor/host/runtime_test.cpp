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

std::string container(const std::string& id, const std::string& annotations) {
    return field(1, field(1, id) + field(2, "pod1") + annotations);
}

std::string annotation(const std::string& key, const std::string& value) {
    return field(9, field(1, key) + field(2, value));
}

std::string grace(const std::string& seconds) {
    return annotation("io.kubernetes.container.hash", "7") +
           annotation("io.kubernetes.pod.terminationGracePeriod", seconds);
}

TEST(Runtime, ReadsTheGraceOfContainers) {
    using std::chrono::seconds;
    const auto found = containers_in(container("c1", grace("7")) + container("c2", ""));
    EXPECT_THAT(*found, ElementsAre(RunningContainer{"c1", "pod1", seconds(7)},
                                    RunningContainer{"c2", "pod1", seconds(30)}));
}

TEST(Runtime, BoundsTheGraceOfContainers) {
    const auto grace_of = [](const std::string& text) {
        return containers_in(container("c1", grace(text)))->front().grace.count();
    };
    EXPECT_EQ(grace_of("0"), 0);
    EXPECT_EQ(grace_of("121"), 120);
    EXPECT_EQ(grace_of("99999999999999999999"), 120);
    EXPECT_EQ(grace_of("-1"), 30);
    EXPECT_EQ(grace_of("soon"), 30);
}

TEST(Runtime, RefusesAnInvalidContainer) {
    EXPECT_THAT(containers_in(container("../etc", "")), IsError(Code::invalid, "container id"));
    EXPECT_THAT(containers_in("\x0a\x09"
                              "abc"),
                IsError(Code::invalid, ""));
}

}  // namespace
}  // namespace kubexm::executor
