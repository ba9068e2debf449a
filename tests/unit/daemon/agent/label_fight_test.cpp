#include "daemon/agent/label_fight.hpp"

#include "daemon/model/host.hpp"
#include "harness/harness.hpp"

// Somebody else sets the labels of the Node back each time.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::ConditionStatus;
using testing::HasSubstr;
using Labels = std::vector<model::Pair>;

const std::chrono::sys_seconds kNow{100h};

TEST(LabelFightTest, TheFirstPatchesAreImmediateAndThenTheyWaitLonger) {
    LabelFight fight;
    const Labels wanted{{"team", "red"}};
    for (int patch = 1; patch <= 2; ++patch) EXPECT_FALSE(fight.note_patch(wanted, kNow, 0));
    auto last = fight.note_patch(wanted, kNow, 0).value_or(0ms);
    EXPECT_EQ(last, 5s);
    for (int patch = 0; patch < 20; ++patch) {
        const auto next = fight.note_patch(wanted, kNow, 0).value_or(0ms);
        EXPECT_GE(next, last);
        last = next;
    }
    EXPECT_EQ(last, 10min);
}

TEST(LabelFightTest, OtherLabelsAndPatchesOfLongAgoAreNoFight) {
    LabelFight fight;
    const Labels wanted{{"team", "red"}};
    fight.note_patch(wanted, kNow, 0);
    fight.note_patch(wanted, kNow, 0);
    EXPECT_FALSE(fight.note_patch({{"team", "blue"}}, kNow, 0));
    EXPECT_FALSE(fight.is_about(wanted));
    fight.note_patch(wanted, kNow, 0);
    fight.note_patch(wanted, kNow, 0);
    EXPECT_FALSE(fight.note_patch(wanted, kNow + 31min, 0));
    EXPECT_FALSE(fight.note_patch(wanted, kNow - 1h, 0)) << "the clock was set back";
}

class LabelFightScenario : public Harness {
protected:
    /// At once, as a controller that watches the Node.
    void set_back_each_time(const std::string& value) {
        workload_.on_change = [this, value](const std::string& path) {
            if (path != kNode || label() != value) return;
            loop_.post([this] { workload_.patch(kNode, with_team(nullptr)); });
        };
    }
    static json with_team(const json& value) {
        return {{"metadata", {{"labels", {{"team", value}}}}}};
    }
    std::string label() {
        return workload_.find(kNode)->value("/metadata/labels/team"_json_pointer, "");
    }
    void want(const std::string& value) {
        management_.patch(kHost, {{"spec", {{"labels", {{"team", value}}}}}});
    }
    std::size_t patches() const { return count_requests(workload_, std::string("PATCH ") + kNode); }
};

TEST_F(LabelFightScenario, IsFoughtWithBackOffAndReported) {
    join();
    set_back_each_time("red");
    want("red");
    advance(10s);
    EXPECT_EQ(reported(kAssignmentApplied).status, ConditionStatus::no);
    EXPECT_THAT(reported(kAssignmentApplied).message,
                HasSubstr("another writer changes team back each time"));
    advance(1h);
    EXPECT_GE(patches(), 5U);
    EXPECT_LE(patches(), 20U);
    workload_.on_change = [](const std::string&) {};
    advance(1h);
    EXPECT_EQ(label(), "red");
    EXPECT_EQ(reported(kAssignmentApplied).status, ConditionStatus::yes);
}

TEST_F(LabelFightScenario, OtherOrdersAreFollowedAtOnce) {
    join();
    set_back_each_time("red");
    want("red");
    advance(1h);
    want("blue");
    advance(1s);
    EXPECT_EQ(label(), "blue");
    advance(1min);
    EXPECT_EQ(reported(kAssignmentApplied).status, ConditionStatus::yes);
}

}  // namespace
}  // namespace kubexm::agent
