#include "harness/harness.hpp"

// Addresses and capacity of a registered host change.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class FactsScenario : public Harness {
protected:
    FactsScenario() {
        facts_.cpus = 2;
        facts_.memory_bytes = 4LL << 30U;
        links_ = {{{"eth0", "02:00:00:00:00:01", {"10.0.0.5/24"}, true, true}, true}};
    }
    void register_host() {
        start();
        advance(10s);
        management_.patches.clear();
    }
    /// An event of the kernel.
    void change_links() {
        agent_->on_links();
        advance(2s);
    }
    std::vector<std::string> addresses() {
        return management_.find(kHost)
            ->at("/status/network/0/ipAddrs"_json_pointer)
            .get<std::vector<std::string>>();
    }
};

TEST_F(FactsScenario, AChangedAddressIsWrittenOnce) {
    register_host();
    EXPECT_THAT(addresses(), ElementsAre("10.0.0.5/24"));
    links_[0].interface.addresses.emplace_back("10.0.0.6/24");
    for (int i = 0; i < 10; ++i) agent_->on_links();
    settle();
    EXPECT_THAT(management_.patches, IsEmpty()) << "changes come in groups";
    advance(1h);
    EXPECT_THAT(addresses(), ElementsAre("10.0.0.5/24", "10.0.0.6/24"));
    ASSERT_THAT(management_.patches, SizeIs(1));
    EXPECT_FALSE(management_.patches[0].second.contains("spec"));
    EXPECT_EQ(snapshot().host.interfaces, interfaces_of(links_));
}

TEST_F(FactsScenario, UnchangedFactsAreNotWritten) {
    register_host();
    change_links();
    EXPECT_THAT(management_.patches, IsEmpty());
}

TEST_F(FactsScenario, LinksOfPodsAreNotWritten) {
    register_host();
    for (int i = 0; i < 50; ++i) {
        links_.push_back(
            {{"veth" + std::to_string(i), "02:00:00:00:00:02", {"fe80::1/64"}, true, false},
             false});
        change_links();
    }
    EXPECT_THAT(management_.patches, IsEmpty());
    restart();
    EXPECT_THAT(management_.find(kHost)->at("/status/network"_json_pointer), SizeIs(1));
}

TEST_F(FactsScenario, ChangedCapacityIsWrittenWithinTheHour) {
    register_host();
    facts_.cpus = 4;
    agent_->on_wakeup();
    advance(2s);
    EXPECT_THAT(management_.patches, IsEmpty());
    advance(1h);
    agent_->on_wakeup();
    advance(2s);
    ASSERT_THAT(management_.patches, SizeIs(1));
    EXPECT_EQ(management_.patches[0].second,
              (json{{"metadata",
                     {{"labels",
                       {{"capacity.infrastructure.cluster.x-k8s.io/cpu", "4"},
                        {"capacity.infrastructure.cluster.x-k8s.io/memory", "4194304Ki"}}}}},
                    {"spec", {{"capacity", {{"cpu", "4"}, {"memory", "4194304Ki"}}}}}}));
    EXPECT_EQ(snapshot().host.cpus, 4U);
}

TEST_F(FactsScenario, BothPartsAreWritten) {
    register_host();
    facts_.cpus = 4;
    links_[0].interface.up = false;
    change_links();
    EXPECT_THAT(management_.patches, SizeIs(2));
    EXPECT_EQ(management_.find(kHost)->at("/spec/capacity/cpu"_json_pointer), "4");
    EXPECT_EQ(management_.find(kHost)->at("/status/network/0/connected"_json_pointer), false);
}

TEST_F(FactsScenario, NothingIsWrittenWhileTheManagementClusterPausesTheHost) {
    register_host();
    management_.patch(kHost,
                      {{"metadata", {{"annotations", {{"cluster.x-k8s.io/paused", "true"}}}}}});
    settle();
    links_[0].interface.addresses = {"10.0.0.7/24"};
    change_links();
    advance(1h);
    EXPECT_THAT(management_.patches, IsEmpty());
    EXPECT_EQ(snapshot().host.interfaces, interfaces_of(links_)) << "shown all the same";
    management_.patch(kHost,
                      {{"metadata", {{"annotations", {{"cluster.x-k8s.io/paused", nullptr}}}}}});
    advance(10s);
    EXPECT_THAT(addresses(), ElementsAre("10.0.0.7/24"));
}

TEST_F(FactsScenario, ARefusedWriteIsRepeatedWithBackOff) {
    register_host();
    links_[0].interface.addresses = {"10.0.0.7/24"};
    management_.refuse_status = 500;
    change_links();
    advance(10min);
    const auto tries = count_requests(management_, "PATCH " + std::string(kHost) + "/status");
    EXPECT_GT(tries, 3U);
    EXPECT_LT(tries, 20U);
    management_.refuse_status = 0;
    advance(15min);
    EXPECT_THAT(addresses(), ElementsAre("10.0.0.7/24"));
}

TEST_F(FactsScenario, ANewByoHostHasTheFactsOfToday) {
    register_host();
    links_[0].interface.addresses = {"10.0.0.7/24"};
    change_links();
    management_.erase(kHost);
    advance(1min);
    ASSERT_NE(management_.find(kHost), nullptr);
    EXPECT_THAT(addresses(), ElementsAre("10.0.0.7/24"));
}

TEST_F(FactsScenario, ANewNameIsToldWithoutARestart) {
    register_host();
    facts_.name = "renamed";
    agent_->on_wakeup();
    advance(10s);
    EXPECT_THAT(reported(kHostNameUnchanged).message,
                testing::HasSubstr("its name is now renamed"));
    EXPECT_EQ(snapshot().host.name, "h1");
    facts_.name = "h1";
    agent_->on_wakeup();
    advance(10s);
    EXPECT_EQ(reported(kHostNameUnchanged).status, model::ConditionStatus::yes);
}

TEST_F(FactsScenario, ANameThatComesLateNeedsNoRestart) {
    facts_.name = "localhost";
    start();
    advance(1h);
    EXPECT_THAT(shown(kManagementClusterReachable).message,
                testing::HasSubstr("host name \"localhost\""));
    facts_.name = "h1";
    change_links();
    advance(10s);
    EXPECT_EQ(phase(), model::Phase::waiting);
    EXPECT_NE(management_.find(kHost), nullptr);
    EXPECT_EQ(shown(kHostNameUnchanged).type, "");
}

TEST_F(FactsScenario, ARequestThatWaitsFollowsTheName) {
    management_.approves = false;
    facts_.name = "installer";
    start();
    advance(1min);
    EXPECT_THAT(shown(kCertificateIssued).message, testing::HasSubstr("byoh-csr-installer-"));
    facts_.name = "h1";
    agent_->on_wakeup();
    settle();
    EXPECT_THAT(shown(kCertificateIssued).message, testing::HasSubstr("byoh-csr-h1-"));
    management_.approve_all();
    advance(1min);
    EXPECT_EQ(phase(), model::Phase::waiting);
    EXPECT_NE(management_.find(kHost), nullptr);
}

/// The new process would register another ByoHost with a certificate that is for the first one.
TEST_F(FactsScenario, TheNameOfTheCertificateStaysAlsoBeforeTheRegistration) {
    management_.refuse_status = 503;
    management_.refuse_path = "/byohosts";
    start();
    advance(10s);
    ASSERT_EQ(phase(), model::Phase::enrolling);
    facts_.name = "renamed";
    agent_->on_wakeup();
    restart();
    management_.refuse_status = 0;
    advance(10min);
    EXPECT_EQ(snapshot().host.name, "h1");
    ASSERT_NE(management_.find(kHost), nullptr);
    EXPECT_EQ(reported(kHostNameUnchanged).status, model::ConditionStatus::no);
}

TEST_F(FactsScenario, TheNamesStay) {
    register_host();
    facts_.name = "renamed";
    facts_.machine_id = "m2";
    facts_.cpus = 4;
    change_links();
    EXPECT_EQ(snapshot().host.name, "h1");
    EXPECT_EQ(snapshot().host.machine_id, "m1");
    EXPECT_EQ(snapshot().host.cpus, 4U);
}

}  // namespace
}  // namespace kubexm::agent
