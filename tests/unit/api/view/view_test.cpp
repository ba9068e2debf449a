#include "api/view/view.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/api/example.hpp"
#include "tests/unit/api/golden.hpp"

namespace kubexm::api {
namespace {

TEST(View, ShowsAnUnconfiguredHost) {
    EXPECT_EQ(status_json(fresh_host()), golden("status-fresh.json"));
}

TEST(View, ShowsAJoiningHost) {
    EXPECT_EQ(status_json(joining_host()), golden("status-joining.json"));
}

TEST(View, ShowsTheCertificatesAlone) {
    EXPECT_EQ(certificates_json(joining_host().certificates), golden("certificates.json"));
}

TEST(View, ShowsThePlanAlone) { EXPECT_EQ(plan_json(running_plan()), golden("plan.json")); }

TEST(View, ShowsAProblem) {
    EXPECT_EQ(problem_json(404, "No plan", "there is none"), golden("problem.json"));
}

TEST(View, WritesPrintableAsciiOnly) {
    model::Snapshot snapshot = fresh_host();
    for (int byte = 0; byte < 256; ++byte) snapshot.host.name += static_cast<char>(byte);
    const std::string text = status_json(snapshot);
    EXPECT_TRUE(
        std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

TEST(View, NamesEveryPhase) {
    model::Snapshot snapshot;
    for (const auto& [phase, name] : Names<model::Phase>::kAll) {
        snapshot.phase = phase;
        EXPECT_NE(status_json(snapshot).find("\"phase\": \"" + std::string(name) + '"'),
                  std::string::npos);
    }
}

}  // namespace
}  // namespace kubexm::api
