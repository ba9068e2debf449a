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

TEST(PreflightParse, DropInsWithACommand) {
    EXPECT_TRUE(sets_command("[Service]\nEnvironment=A=b\nExecStart=\nExecStart=/usr/bin/kubelet"));
    EXPECT_TRUE(sets_command("[Service]\n  ExecStart = /usr/bin/kubelet"));
    EXPECT_FALSE(sets_command("[Service]\n#ExecStart=/usr/bin/kubelet\nExecStartPre=/bin/true\n"));
    EXPECT_FALSE(sets_command("[Service]\nEnvironment=ExecStart=x\nExecStart\n"));
    EXPECT_FALSE(sets_command(""));
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

TEST(PreflightParse, TheCgroupDriverOfContainerd) {
    const auto of = [](const std::string& value) {
        return driver_in(R"({"containerd":{"runtimes":{"runc":{"options":{"SystemdCgroup":)" +
                         value + "}}}}}");
    };
    EXPECT_EQ(of("true"), model::CgroupDriver::systemd);
    EXPECT_EQ(of("false"), model::CgroupDriver::cgroupfs);
    EXPECT_EQ(of("\"yes\""), std::nullopt);
    EXPECT_EQ(driver_in("{}"), std::nullopt);
    EXPECT_EQ(driver_in("not JSON"), std::nullopt);
    EXPECT_EQ(driver_in(R"({"containerd":[]})"), std::nullopt);
}

}  // namespace
}  // namespace kubexm::executor
