#include "daemon/cli/release_progress.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "daemon/cli/exit_code.hpp"

namespace kubexm::cli {
namespace {

using nlohmann::json;

json step(const char* text, const char* state, const char* error = "") {
    return {{"text", text}, {"state", state}, {"error", error}};
}

json status(const char* phase, const json& steps, const char* purpose = "release") {
    return {{"phase", phase},
            {"plan", {{"id", "undo-1"}, {"purpose", purpose}, {"steps", steps}, {"stays", {}}}}};
}

TEST(ReleaseProgress, ShowsEveryStepOnceToTheEnd) {
    ReleaseProgress progress;
    EXPECT_EQ(progress.update(status("joined", json::array({step("join", "done")}), "join")), "");
    EXPECT_EQ(progress.update(status("releasing", {step("a", "done"), step("b", "prepared")})),
              "done     a\n");
    EXPECT_EQ(progress.end(), std::nullopt);
    EXPECT_EQ(progress.update(status("releasing", {step("a", "done"), step("b", "failed", "no"),
                                                   step("c", "skipped")})),
              "failed   b: no\nskipped  c\n");
    EXPECT_EQ(progress.update(status(
                  "waiting", {step("a", "done"), step("b", "failed", "no"), step("c", "skipped")})),
              "This host is released.\n");
    EXPECT_EQ(progress.end(), kDone);
}

TEST(ReleaseProgress, BeginsAgainWithASecondUndo) {
    ReleaseProgress progress;
    progress.update(status("releasing", {step("a", "done"), step("b", "done")}));
    json second = status("releasing", json::array({step("b", "done")}));
    second["plan"]["id"] = "undo-2";
    EXPECT_EQ(progress.update(second), "done     b\n");
}

TEST(ReleaseProgress, NamesWhatStays) {
    json last = status("waiting", json::array());
    last["plan"]["stays"] = {{{"object", "file /x\x1b"}, {"why", "changed"}}};
    EXPECT_EQ(ReleaseProgress().update(last),
              "This host is released, but some objects stay:\nstays    file /x\\x1b: changed\n");
}

/// kubexmd was started again, and does not know yet how far the release is.
TEST(ReleaseProgress, WaitsForAKubexmdThatDoesNotKnowYet) {
    for (const char* phase : {"enrolling", "unconfigured"}) {
        ReleaseProgress progress;
        EXPECT_EQ(progress.update({{"phase", phase}, {"plan", nullptr}}), "") << phase;
        EXPECT_EQ(progress.end(), std::nullopt) << phase;
    }
}

/// After kubexmctl leave the host is held.
TEST(ReleaseProgress, SucceedsWhereAPersonsWordHoldsTheHost) {
    json last = status("held", json::array());
    last["plan"]["stays"] = {{{"object", "file /x"}, {"why", "no"}, {"blocksJoin", false}}};
    last["conditions"] = {{{"type", "AssignmentApplied"}, {"reason", "ReleasedByPerson"}}};
    ReleaseProgress progress;
    EXPECT_EQ(progress.update(last),
              "This host is released, but some objects stay:\nstays    file /x: no\n");
    EXPECT_EQ(progress.end(), kDone);
    last["plan"] = nullptr;
    EXPECT_EQ(progress.update(last), "This host is released.\n") << "of a kubexmd started again";
    EXPECT_EQ(progress.end(), kDone);
    last["conditions"][0]["reason"] = "ManualDecisionRequired";
    progress.update(last);
    EXPECT_EQ(progress.end(), kFailed);
}

TEST(ReleaseProgress, EndsWithTheReasonOfAFailure) {
    ReleaseProgress progress;
    json held = status("failed", json::array());
    held["conditions"] = {{{"type", "A"}, {"status", "True"}, {"reason", "fine"}},
                          {{"type", "B"}, {"status", "False"}, {"reason", "R"}, {"message", "m"}}};
    EXPECT_EQ(progress.update(held), "This host is not released, its phase is failed:\nB: R: m\n");
    EXPECT_EQ(progress.end(), kFailed);
}

TEST(ReleaseProgress, ToleratesMembersOfOtherTypes) {
    for (const char* text :
         {"null", "[]", R"({"phase": 1, "plan": [], "conditions": 3})",
          R"({"phase": "releasing", "plan": {"purpose": "release", "steps": {"a": 1}}})",
          R"({"plan": {"purpose": "release", "steps": [1, null], "stays": 5}})"}) {
        EXPECT_NO_THROW(ReleaseProgress().update(json::parse(text))) << text;
    }
}

}  // namespace
}  // namespace kubexm::cli
