#include "service_host.hpp"

// What a subscriber learns about objects on the host, and repairs.

namespace kubexm::executor {
namespace {

using model::PlanState;
using testing::StartsWith;

class ServiceChangesTest : public ServiceHost {
protected:
    /// With one applied link.
    void apply_link() {
        WireClient client = greeted();
        client.ask(5, wire::Apply{own_plan("p1"), {}, false});
        EXPECT_EQ(std::get<wire::PlanSummary>(client.ask(6, wire::Follow{"p1"})).state,
                  PlanState::done);
    }
    WireClient subscribed() {
        WireClient client = greeted();
        client.send(5, wire::Subscribe{});
        return client;
    }
    /// The next event about drift.
    static std::vector<wire::DriftedObject> drift(WireClient& client) {
        for (;;) {
            const auto event = client.received();
            const auto* drift = std::get_if<wire::Drift>(&event.reply);
            if (drift != nullptr) return drift->objects;
        }
    }
    fs::path link() const { return scratch_.at("/etc/link"); }
    const std::vector<wire::DriftedObject> gone_{
        {own_owner(), "link /etc/link to target", "absent"}};
};

TEST_F(ServiceChangesTest, ASubscriberLearnsOfDriftAndOfItsEnd) {
    apply_link();
    WireClient watching = subscribed();
    EXPECT_TRUE(drift(watching).empty());
    fs::remove(link());
    EXPECT_EQ(drift(watching), gone_);
    fs::create_symlink("target", link());
    EXPECT_TRUE(drift(watching).empty());
}

TEST_F(ServiceChangesTest, ALaterSubscriberLearnsOfPresentDrift) {
    apply_link();
    fs::remove(link());
    WireClient watching = subscribed();
    EXPECT_EQ(drift(watching), gone_);
    WireClient other = subscribed();
    EXPECT_EQ(drift(other), gone_);
}

TEST_F(ServiceChangesTest, ARepairIsAPlanThatEndsTheDrift) {
    apply_link();
    WireClient watching = subscribed();
    EXPECT_TRUE(drift(watching).empty());
    fs::remove(link());
    EXPECT_EQ(drift(watching), gone_);
    WireClient client = greeted();
    EXPECT_EQ(std::get<wire::Accepted>(client.ask(5, wire::Repair{"r1", own_owner()})).plan_id,
              "r1");
    const auto end = std::get<wire::PlanSummary>(client.ask(6, wire::Follow{"r1"}));
    EXPECT_EQ(end.state, PlanState::done);
    EXPECT_EQ(end.purpose, model::PlanPurpose::repair);
    EXPECT_TRUE(drift(watching).empty());
    EXPECT_EQ(fs::read_symlink(link()), "target");
}

TEST_F(ServiceChangesTest, DriftThatIsThereWhenAPlanEndsIsSentAgain) {
    apply_link();
    WireClient watching = subscribed();
    EXPECT_TRUE(drift(watching).empty());
    fs::remove(link());
    EXPECT_EQ(drift(watching), gone_);
    WireClient client = greeted();
    client.ask(5, wire::Apply{own_plan("p2", "/etc/other"), {}, false});
    EXPECT_EQ(drift(watching), gone_);
}

TEST_F(ServiceChangesTest, NothingToRepairIsRefused) {
    apply_link();
    WireClient client = greeted();
    EXPECT_THAT(refusal_in(client.ask(5, wire::Repair{"r1", own_owner()})),
                StartsWith("not_found: "));
    fs::remove(link());
    EXPECT_THAT(refusal_in(client.ask(6, wire::Repair{"r2", "nobody"})), StartsWith("not_found: "));
    EXPECT_THAT(refusal_in(client.ask(7, wire::Repair{"p1", own_owner()})),
                StartsWith("conflict: "));
}

}  // namespace
}  // namespace kubexm::executor
