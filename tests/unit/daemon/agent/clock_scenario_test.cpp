#include <filesystem>

#include "daemon/kube/kubeconfig.hpp"
#include "daemon/kube/signing.hpp"
#include "harness/harness.hpp"

// The clock of the host is wrong when kubexmd starts: the servers judge the stored certificates.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::ConditionStatus;
using model::Phase;

class WrongClock : public Harness {
protected:
    static constexpr std::chrono::hours kAhead{500};

    /// The certificates look expired. A server's looks so, too: there is no connection.
    void start_ahead() {
        agent_.reset();
        time_.set_clock(kAhead);
        set_available(false);
        start();
        advance(30min);
    }
    void correct_clock() {
        time_.set_clock(-kAhead);
        for (SimulatedCluster* each : {&management_, &workload_}) each->requests.clear();
        set_available(true);
        advance(10min);
    }
    void set_available(bool available) {
        for (SimulatedCluster* each : {&management_, &workload_}) each->set_available(available);
    }
    static std::size_t posts(const SimulatedCluster& cluster) {
        return static_cast<std::size_t>(
            std::ranges::count(cluster.requests, std::string("POST ") + kube::kSigningPath));
    }
    void join_for_a_while() {
        management_.lifetime = 100h;
        workload_.lifetime = 100h;
        join();
        std::filesystem::remove(directory_ / "bootstrap");
        management_.erase(kSecret);
    }
};

TEST_F(WrongClock, TheHostComesBackWithoutABootstrapKubeconfig) {
    join_for_a_while();
    start_ahead();
    correct_clock();
    EXPECT_EQ(shown(kManagementClusterReachable).status, ConditionStatus::yes);
    EXPECT_EQ(posts(management_), 0U);
}

TEST_F(WrongClock, TheNodeComesBackWithoutItsSecret) {
    join_for_a_while();
    start_ahead();
    correct_clock();
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes);
    EXPECT_EQ(posts(workload_), 0U);
    EXPECT_THAT(executor_.applied, testing::SizeIs(1));
}

TEST_F(WrongClock, ACertificateThatTheServerAcceptsIsUsed) {
    join_for_a_while();
    agent_.reset();
    time_.set_clock(kAhead);
    start();
    advance(1min);
    EXPECT_EQ(shown(kManagementClusterReachable).status, ConditionStatus::yes);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes);
}

TEST_F(WrongClock, ACertificateThatTheServerRefusesIsReplaced) {
    join();
    for (SimulatedCluster* each : {&management_, &workload_}) each->refuse_certificates();
    restart();
    advance(10min);
    EXPECT_EQ(shown(kManagementClusterReachable).status, ConditionStatus::yes);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes);
    EXPECT_EQ(posts(management_), 2U);
    EXPECT_EQ(posts(workload_), 2U);
}

TEST_F(WrongClock, TheNodesCredentialsAreReadAgainWhereThatFailed) {
    join_for_a_while();
    const std::string stored = directory_.read("machine-u1.kubeconfig");
    directory_.write("machine-u1.kubeconfig", "");
    restart();
    advance(1min);
    EXPECT_EQ(shown(kNodeReady).type, "");
    directory_.write("machine-u1.kubeconfig", stored);
    advance(10min);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(shown(kNodeReady).status, ConditionStatus::yes);
}

}  // namespace
}  // namespace kubexm::agent
