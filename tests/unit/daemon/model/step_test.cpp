#include "daemon/model/step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kubexm::model {
namespace {

TEST(Step, TextHasVerbObjectAndValue) {
    EXPECT_EQ(text_of(UnitState{.name = "kubelet.service", .enabled = true, .active = true}),
              "enable and start kubelet.service");
    EXPECT_EQ(text_of(UnitState{.name = "docker.service", .active = false, .masked = true}),
              "mask and stop docker.service");
    EXPECT_EQ(text_of(Directory{"/etc/kubernetes", {.mode = Mode{0700}}}),
              "create directory /etc/kubernetes (0700)");
    EXPECT_EQ(text_of(Sysctl{"net.ipv4.ip_forward", "1"}), "set net.ipv4.ip_forward to 1");
    EXPECT_EQ(text_of(RenderedFile{Kubeconfig{}}), "write /etc/kubernetes/kubelet.conf");
}

TEST(Step, EffectsNameInterruptionsAndDataLoss) {
    EXPECT_THAT(
        effects_of(UnitState{.name = "containerd.service", .active = false}),
        testing::ElementsAre("interrupts the container runtime; running containers continue"));
    EXPECT_THAT(effects_of(DeletedTree{"/var/lib/kubelet"}),
                testing::ElementsAre("deletes data below /var/lib/kubelet"));
    EXPECT_THAT(effects_of(Sysctl{"a", "b"}), testing::IsEmpty());
}

TEST(Step, TwoBlocksInOneFileAreTwoObjects) {
    EXPECT_NE(target_of(ManagedBlock{"/etc/hosts", "a", {}}),
              target_of(ManagedBlock{"/etc/hosts", "b", {}}));
}

}  // namespace
}  // namespace kubexm::model
