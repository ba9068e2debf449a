#include "daemon/cli/status_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/api/golden.hpp"

namespace kubexm::cli {
namespace {

using nlohmann::json;

json document(const std::string& name) { return json::parse(api::golden(name)); }

TEST(StatusText, ShowsEverythingAboutAHost) {
    EXPECT_EQ(status_text(document("status-joining.json")),
              "host         h1 (Debian GNU/Linux 12 (bookworm), amd64, 2 CPUs, 3.7 GiB)\n"
              "phase        joining\n"
              "paused       until 2026-01-02T05:04:05Z by user 1000 since 2026-01-02T03:04:05Z\n"
              "assignment   blue v1.34.1 as default/blue-workers-x7k2p\n"
              "plan         p-1 running, 1 of 3 steps done\n"
              "stays        file /etc/x: somebody changed it: compare it\n"
              "preflight    warning  network-tools: missing: nft: install them\n"
              "condition    True     Connected\n"
              "condition    False    Joined: StepFailed: <script>\\x1b[31m\xef\xbf\xbd\\xc2\\x85"
              "\xe9\x9b\xaa\n"
              "condition    Unknown  Ready\n"
              "certificate  node until 2027-01-02T03:04:05Z\n"
              "unit         active   kubelet.service (enabled)\n"
              "permits      clusters: those that root listed; registries: any with TLS\n"
              "version      0.1.0\n");
}

TEST(StatusText, ShowsAnUnconfiguredHost) {
    const std::string text = status_text(document("status-fresh.json"));
    EXPECT_NE(text.find("assignment   none\nplan         none\nversion"), std::string::npos)
        << text;
}

TEST(StatusText, ShowsAPauseWithoutEnd) {
    const json status{{"pause", {{"since", "S"}, {"until", nullptr}, {"uid", 0}}}};
    EXPECT_NE(status_text(status).find("paused       until kubexmctl resume by user 0 since S\n"),
              std::string::npos);
}

TEST(StatusText, ShowsThePlanStepByStep) {
    EXPECT_EQ(plan_text(document("plan.json")),
              "plan p-1: running\n"
              "done     set net.ipv4.ip_forward to 1\n"
              "failed   start kubelet.service: no \"x\"\n"
              "pending  start b.service\n"
              "stays    file /etc/x: somebody changed it: compare it\n");
}

TEST(StatusText, ShowsTheCertificates) {
    EXPECT_EQ(certificates_text(document("certificates.json")),
              "node: CN=system:node:h1, O=system:nodes, serial 01\n"
              "  valid   2026-01-02T03:04:05Z to 2027-01-02T03:04:05Z\n"
              "  issuer  CN=kubernetes until 2036-01-02T03:04:05Z\n"
              "  next    kubexmd: retry at 2026-10-02T03:04:05Z: https://a: certificate request x "
              "was denied\n");
    EXPECT_EQ(certificates_text(json::object()),
              "this host has no certificate yet; see kubexmctl status\n");
}

TEST(StatusText, ShowsMembersOfOtherTypesAsEmpty) {
    for (const char* text :
         {"null", "[]", "1", "{}", R"("x")", R"({"host": [], "plan": 1, "units": "x"})",
          R"({"conditions": [1, null, {"type": {}}], "plan": {"steps": {"a": 1}}, "phase": 7})"}) {
        EXPECT_NO_THROW(status_text(json::parse(text))) << text;
        EXPECT_NO_THROW(certificates_text(json::parse(text))) << text;
        EXPECT_NO_THROW(plan_text(json::parse(text))) << text;
    }
}

}  // namespace
}  // namespace kubexm::cli
