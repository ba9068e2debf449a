#include "daemon/cli/preflight_text.hpp"

#include <gtest/gtest.h>

namespace kubexm::cli {
namespace {

using model::CheckId;
using model::Severity;

TEST(PreflightText, IsATableWithWrappedColumns) {
    EXPECT_EQ(
        preflight_text({{CheckId::kubelet_active, Severity::error, "kubelet.service is active",
                         "no kubelet of another installation", "systemctl disable --now kubelet"},
                        {CheckId::network_tools, Severity::warning, "missing: nft",
                         "the tools that pod networks and kube-proxy call", "install them"}}),
        "ID              SEVERITY  FOUND                      NEEDED                       REMEDY\n"
        "kubelet-active  error     kubelet.service is active  no kubelet of another        "
        "systemctl disable --now kubelet\n"
        "                                                     installation\n"
        "network-tools   warning   missing: nft               the tools that pod networks  "
        "install them\n"
        "                                                     and kube-proxy call\n"
        "This host is not ready for a join.\n");
}

TEST(PreflightText, KeepsAPathInOnePiece) {
    const std::string path = "/etc/systemd/system.control/kubelet.service.d/10-kubeadm.conf";
    const std::string text = preflight_text(
        {{CheckId::kubelet_drop_in, Severity::error, path + " sets ExecStart=", "n", "r"}});
    EXPECT_NE(text.find(path + "  n"), std::string::npos) << text;
}

TEST(PreflightText, SaysThatAHostIsReady) {
    EXPECT_EQ(preflight_text({}), "This host is ready for a join.\n");
    EXPECT_TRUE(preflight_text({{CheckId::network_tools, Severity::warning, "f", "n", "r"}})
                    .ends_with("This host is ready for a join.\n"));
}

}  // namespace
}  // namespace kubexm::cli
