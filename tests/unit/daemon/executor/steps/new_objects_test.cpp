#include "daemon/executor/steps/new_objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kubexm::executor::new_objects {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NewObjects, GoIfTheyAreKnown) {
    const auto [going, staying] = divide({"lo", "eth0", "cni0", "flannel.1", "flannel.2", "tun0"},
                                         {"lo", "eth0", "flannel.1"}, {"cni0", "flannel.*"});
    EXPECT_THAT(going, ElementsAre("cni0", "flannel.2"));
    EXPECT_THAT(staying, ElementsAre("tun0"));
}

TEST(NewObjects, AreNamedWhereTheyStay) {
    EXPECT_EQ(not_ours({}), "");
    EXPECT_EQ(not_ours({"tun0", "tun1"}),
              "tun0, tun1 appeared meanwhile and are not of a known pod network: remove them if "
              "nothing on this host uses them");
    EXPECT_EQ(listed({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}),
              "1, 2, 3, 4, 5, 6, 7, 8 and 2 others");
}

TEST(NewObjects, ListSlicesOfPodsOuterOnesFirst) {
    const ObjectNames now = {
        "kubepods-besteffort-pod1.slice", "kubepods-besteffort.slice", "kubepods.slice",
        "kubepodsinabox.slice",           "kubepods-x.service",        "system.slice"};
    EXPECT_THAT(slices(now, {}), ElementsAre("kubepods.slice", "kubepods-besteffort.slice",
                                             "kubepods-besteffort-pod1.slice"));
    EXPECT_THAT(slices(now, now), IsEmpty());
}

}  // namespace
}  // namespace kubexm::executor::new_objects
