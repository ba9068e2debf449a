#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/executor/preflight/probe.hpp"

namespace kubexm::executor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(PreflightParse, TheVersionOfKubelet) {
    EXPECT_EQ(version_in("Kubernetes v1.34.1\n"), "v1.34.1");
    for (const char* wrong : {"", "Kubernetes v", "kubelet: not found", "\x1b[2J"}) {
        const auto refused = version_in(wrong);
        ASSERT_FALSE(refused) << wrong;
        EXPECT_THAT(refused.error().what, HasSubstr("expected \"Kubernetes vVERSION\""));
        EXPECT_EQ(refused.error().what.find('\x1b'), std::string::npos);
    }
}

TEST(PreflightParse, Listeners) {
    const std::string table =
        "  sl  local_address rem_address   st tx_queue rx_queue\n"
        "   0: 0100007F:280A 00000000:0000 0A 00000000:00000000\n"
        "   1: 0100007F:280B 0100007F:9C40 01 00000000:00000000\n";
    EXPECT_TRUE(has_listener(table, 10250));
    EXPECT_FALSE(has_listener(table, 10251)) << "a connection, no listener";
    EXPECT_TRUE(has_listener("0: 00000000000000000000000000000000:280A 0:0 0A", 10250));
    EXPECT_FALSE(has_listener("", 10250));
    EXPECT_FALSE(has_listener("280A", 10250));
}

TEST(PreflightParse, Swaps) {
    EXPECT_THAT(swaps_in("Filename\t\tType\t\tSize\n/dev/vda2  partition\t1024\n/swap file 1\n"),
                ElementsAre("/dev/vda2", "/swap"));
    EXPECT_THAT(swaps_in("Filename\t\tType\t\tSize\n"), IsEmpty());
}

std::optional<model::CgroupDriver> driver_of(const std::string& runc) {
    return driver_in(R"({"containerd":{"defaultRuntimeName":"runc","runtimes":{"runc":)" + runc +
                     "}}}");
}

TEST(PreflightParse, TheCgroupDriverOfContainerd) {
    EXPECT_EQ(driver_of(R"({"options":{"SystemdCgroup":true}})"), model::CgroupDriver::systemd);
    EXPECT_EQ(driver_of(R"({"options":{"SystemdCgroup":false}})"), model::CgroupDriver::cgroupfs);
    EXPECT_EQ(driver_in("{}"), std::nullopt);
    EXPECT_EQ(driver_in("not JSON"), std::nullopt);
    EXPECT_EQ(driver_in(R"({"containerd":[]})"), std::nullopt);
    EXPECT_EQ(driver_in(R"({"containerd":{"runtimes":[]}})"), std::nullopt);
}

TEST(PreflightParse, AnOptionThatContainerdDoesNotHaveMeansCgroupfs) {
    for (const char* runc : {R"({"options":{"BinaryName":"runc"}})", R"({"options":null})", "{}",
                             R"({"runtimeType":"io.containerd.runc.v2","options":{}})"}) {
        EXPECT_EQ(driver_of(runc), model::CgroupDriver::cgroupfs) << runc;
    }
}

TEST(PreflightParse, TheDriverIsThatOfTheDefaultRuntime) {
    const auto of = [](const std::string& name) {
        return driver_in(R"({"containerd":{"defaultRuntimeName":")" + name +
                         R"(","runtimes":{"runc":{"options":{"SystemdCgroup":false}},
                         "nvidia":{"runtimeType":"io.containerd.runc.v2",
                                   "options":{"SystemdCgroup":true}},
                         "kata":{"runtimeType":"io.containerd.kata.v2","options":null}}}})");
    };
    EXPECT_EQ(of("nvidia"), model::CgroupDriver::systemd);
    EXPECT_EQ(of(""), model::CgroupDriver::cgroupfs);
    EXPECT_EQ(of("kata"), std::nullopt);
    EXPECT_EQ(of("absent"), std::nullopt);
}

}  // namespace
}  // namespace kubexm::executor
