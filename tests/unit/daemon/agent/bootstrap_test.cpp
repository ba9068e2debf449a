#include <filesystem>

#include "daemon/kube/kubeconfig.hpp"
#include "harness/harness.hpp"

// Root replaces the bootstrap kubeconfig while kubexmd runs.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::ConditionStatus;
using model::Phase;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class BootstrapTest : public Harness {
protected:
    std::string server() const { return state().management.server; }
    /// The next start of kubexmd finds it, too.
    void replace_file(const std::string& kubeconfig) {
        directory_.write("bootstrap", kubeconfig);
        executor_.pass_bootstrap(kubeconfig);
    }
    void pass(const std::string& kubeconfig) {
        replace_file(kubeconfig);
        advance(10s);
    }
};

TEST_F(BootstrapTest, AnUnconfiguredHostEnrolsWithoutARestart) {
    std::filesystem::remove(directory_ / "bootstrap");
    start();
    EXPECT_EQ(phase(), Phase::unconfigured);
    pass(management_.kubeconfig("abc.def"));
    EXPECT_EQ(phase(), Phase::waiting);
}

TEST_F(BootstrapTest, TheHostFollowsToAnotherClusterAndReOwnsItsNode) {
    join();
    make_secret_in(other_);
    pass(other_.kubeconfig("abc.def"));
    EXPECT_EQ(server(), other_.server());
    EXPECT_EQ(phase(), Phase::held) << "no machine there yet, and no order to release";
    patch_assignment_in(other_, "u9", "workers-1");
    advance(10s);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_TRUE(executor_.has("machine-u9"));
    EXPECT_THAT(executor_.undone, ElementsAre("machine-u1"));
    EXPECT_EQ(count_requests(workload_, "POST"), 1U) << "the certificate is kept";
    restart();
    EXPECT_EQ(server(), other_.server());
}

TEST_F(BootstrapTest, OnlyTheOtherClustersOwnSecretSaysThatTheNodeHasMoved) {
    join();
    other_.put(kSecret, {{"metadata", {{"name", "workers-1-bootstrap"}}},
                         {"data", {{"bootstrap-kubeconfig", base64(other_.kubeconfig("token"))}}}});
    pass(other_.kubeconfig("abc.def"));
    patch_assignment_in(other_, "u9", "workers-1");
    advance(10s);
    EXPECT_EQ(phase(), Phase::held) << "it names another cluster to join";
    EXPECT_FALSE(executor_.has("machine-u9"));
    EXPECT_EQ(count_requests(other_, "POST /apis/certificates"), 1U) << "the host's own";
}

TEST_F(BootstrapTest, AReplacedFileIsFollowedAtTheNextStart) {
    start();
    directory_.write("bootstrap", other_.kubeconfig("abc.def"));
    restart();
    advance(10s);
    EXPECT_EQ(server(), other_.server());
    EXPECT_EQ(phase(), Phase::waiting);
}

TEST_F(BootstrapTest, TheHostStaysWhileTheOtherClusterRefuses) {
    join();
    other_.refuse_status = 401;
    pass(other_.kubeconfig("abc.def"));
    advance(10min);
    EXPECT_EQ(server(), management_.server());
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(shown(kManagementClusterReachable).status, ConditionStatus::yes);
    EXPECT_EQ(shown(kBootstrapKubeconfigUsable).status, ConditionStatus::no);
    EXPECT_THAT(shown(kBootstrapKubeconfigUsable).message,
                AllOf(HasSubstr("stays at https://management:6443"), HasSubstr("Refused"),
                      HasSubstr("/etc/kubexm/bootstrap-kubeconfig")));
    pass(management_.kubeconfig("abc.def"));
    EXPECT_EQ(shown(kBootstrapKubeconfigUsable).type, "");
    const std::size_t asked = other_.requests.size();
    advance(1h);
    EXPECT_EQ(other_.requests.size(), asked) << "it is not tried any more";
}

TEST_F(BootstrapTest, ARequestThatWaitsAtTheOtherClusterIsShown) {
    join();
    other_.approves = false;
    pass(other_.kubeconfig("abc.def"));
    EXPECT_THAT(shown(kCertificateIssued).message,
                AllOf(HasSubstr("https://other:6443"), HasSubstr("kubectl certificate approve")));
    advance(30min);
    EXPECT_EQ(server(), management_.server());
    other_.approve_all();
    advance(10s);
    EXPECT_EQ(server(), other_.server());
}

TEST_F(BootstrapTest, RubbishIsNamedAndTheHostStays) {
    join();
    pass("rubbish: [");
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(shown(kBootstrapKubeconfigUsable).message, HasSubstr("bootstrap kubeconfig"));
    pass(management_.kubeconfig("abc.def"));
    EXPECT_EQ(shown(kBootstrapKubeconfigUsable).type, "");
}

TEST_F(BootstrapTest, AnotherTokenForTheSameClusterChangesNothing) {
    join();
    const std::size_t requests = management_.requests.size();
    pass(management_.kubeconfig("uvw.xyz"));
    EXPECT_EQ(management_.requests.size(), requests);
    EXPECT_THAT(executor_.undone, IsEmpty());
}

TEST_F(BootstrapTest, ANewCaOfTheSameClusterIsUsedFromThenOn) {
    join();
    std::string kubeconfig = management_.kubeconfig("abc.def");
    const std::string ca = base64(management_.ca());
    kubeconfig.replace(kubeconfig.find(ca), ca.size(), base64(other_.ca()));
    management_.requests.clear();
    pass(kubeconfig);
    EXPECT_EQ(count_requests(management_, "POST /apis/certificates"), 1U);
    const auto stored =
        must(kube::credentials_from_kubeconfig(directory_.read("management.kubeconfig")));
    EXPECT_EQ(stored.ca, other_.ca());
    EXPECT_EQ(server(), management_.server());
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(shown(kBootstrapKubeconfigUsable).type, "");
    restart();
    advance(1h);
    EXPECT_EQ(count_requests(management_, "POST /apis/certificates"), 1U) << "once";
    EXPECT_THAT(executor_.applied, testing::SizeIs(1));
    EXPECT_THAT(executor_.undone, IsEmpty());
}

TEST_F(BootstrapTest, ANewTokenIsTriedAtOnce) {
    management_.refuse_status = 401;
    start();
    advance(1h);
    EXPECT_EQ(shown(kManagementClusterReachable).status, ConditionStatus::no);
    management_.refuse_status = 0;
    replace_file(management_.kubeconfig("uvw.xyz"));
    advance(1s);
    EXPECT_EQ(phase(), Phase::waiting);
}

}  // namespace
}  // namespace kubexm::agent
