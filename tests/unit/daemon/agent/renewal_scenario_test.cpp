#include "daemon/agent/node_credential.hpp"
#include "daemon/kube/kubeconfig.hpp"
#include "harness/harness.hpp"
#include "tests/unit/sanitized.hpp"

// Certificates that are renewed before their end.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::ConditionStatus;
using model::Phase;
using model::PlanPurpose;
using testing::HasSubstr;
using testing::SizeIs;

class Renewal : public Harness {
protected:
    std::string certificate_in(const std::string& file) const {
        auto credentials = kube::credentials_from_kubeconfig(directory_.read(file));
        return credentials ? credentials->certificate : "";
    }
    std::string key_in(const std::string& file) const {
        auto credentials = kube::credentials_from_kubeconfig(directory_.read(file));
        return credentials ? std::string(credentials->key.reveal()) : "";
    }
    void write_private(const std::string& file, std::string content) {
        const CredentialStore store = must(CredentialStore::open(directory_.path()));
        ASSERT_TRUE(store.write(file, Secret(std::move(content))));
    }
    std::size_t renewals() const {
        return static_cast<std::size_t>(
            std::ranges::count(executor_.applied, PlanPurpose::renew, &model::Plan::purpose));
    }
    std::size_t requests_for(const SimulatedCluster& cluster) const {
        return count_requests(cluster, "POST /apis/certificates.k8s.io");
    }
};

TEST_F(Renewal, AMonthOfShortCertificates) {
    management_.lifetime = 24h;
    workload_.lifetime = 24h;
    join();
    const int connections = management_.connections;
    constexpr int kDays = kEveryCrash == 1 ? 30 : 5;
    for (int hour = 0; hour < kDays * 24; hour += 2) {
        advance(2h);
        ASSERT_EQ(phase(), Phase::joined) << hour;
        ASSERT_GT(snapshot().certificates.at(0).not_after, rfc3339(time_.now() + 10min)) << hour;
        ASSERT_GT(snapshot().certificates.at(1).not_after, rfc3339(time_.now() + 10min)) << hour;
    }
    EXPECT_THAT(
        management_.used_certificates,
        SizeIs(testing::AllOf(testing::Ge(kDays * 11U / 10), testing::Le(kDays * 15U / 10))));
    EXPECT_EQ(renewals(), workload_.used_certificates.size());
    EXPECT_EQ(certificate_in("management.kubeconfig"), management_.used_certificates.back());
    EXPECT_EQ(certificate_in("machine-u1.kubeconfig"), workload_.used_certificates.back());
    EXPECT_EQ(requests_for(workload_), workload_.used_certificates.size() + 1);
    EXPECT_GT(management_.connections, connections) << "each is tested on a connection of its own";
    EXPECT_EQ(count_requests(management_, "POST /apis/infrastructure"), 1U) << "registered once";
}

TEST_F(Renewal, WithoutAnApproverThereIsOneRequest) {
    workload_.lifetime = 100h;
    join();
    workload_.approves = false;
    advance(95h);
    EXPECT_EQ(requests_for(workload_), 2U);
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_THAT(reported(kCertificateIssued).message, HasSubstr("kubectl certificate approve"));
    workload_.approve_all();
    advance(1min);
    EXPECT_EQ(renewals(), 1U);
    EXPECT_EQ(reported(kCertificateIssued).status, ConditionStatus::yes);
}

TEST_F(Renewal, OfTheManagementCertificateChangesNothingElse) {
    management_.lifetime = 100h;
    join();
    management_.requests.clear();
    advance(95h);
    EXPECT_THAT(management_.used_certificates, SizeIs(1));
    EXPECT_EQ(count_requests(management_, "watch=true"), 0U) << "the watch goes on";
    EXPECT_THAT(executor_.applied, SizeIs(1));
}

TEST_F(Renewal, OfTheManagementCertificateHappensAlsoAfterARefusalThatPasses) {
    management_.lifetime = 100h;
    join();
    management_.accepts_tokens = false;
    management_.refuse_certificates_for_now();
    advance(5min);
    ASSERT_EQ(shown(kManagementClusterReachable).status, ConditionStatus::no);
    management_.accepts_certificates = true;
    advance(5min);
    ASSERT_EQ(shown(kManagementClusterReachable).status, ConditionStatus::yes);
    advance(95h);
    ASSERT_THAT(management_.used_certificates, SizeIs(1));
    EXPECT_EQ(certificate_in("management.kubeconfig"), management_.used_certificates.front());
}

TEST_F(Renewal, ThatFailsIsReportedWhenLittleLifeIsLeft) {
    workload_.lifetime = 100h;
    join();
    workload_.refuse_status = 403;
    workload_.refuse_path = "certificatesigningrequests";
    const auto end = snapshot().certificates.at(1).not_after;
    advance(79h);
    EXPECT_EQ(shown(kCertificatesRenewed).type, "") << "there is time";
    advance(10h);
    EXPECT_EQ(reported(kCertificatesRenewed).severity, "Warning");
    EXPECT_THAT(reported(kCertificatesRenewed).message,
                HasSubstr("certificate node ends at " + end));
    EXPECT_EQ(phase(), Phase::joined);
    EXPECT_EQ(reported(kBootstrapped).status, ConditionStatus::yes);
    advance(8h);
    EXPECT_EQ(reported(kCertificatesRenewed).severity, "Error");
    workload_.refuse_status = 0;
    advance(10min);
    EXPECT_EQ(reported(kCertificatesRenewed).status, ConditionStatus::yes);
    EXPECT_EQ(renewals(), 1U);
}

TEST_F(Renewal, ThatWaitsForApprovalIsReportedWhenLittleLifeIsLeft) {
    workload_.lifetime = 100h;
    join();
    workload_.approves = false;
    const auto end = snapshot().certificates.at(1).not_after;
    advance(79h);
    EXPECT_EQ(shown(kCertificatesRenewed).type, "") << "there is time";
    advance(10h);
    EXPECT_EQ(reported(kCertificatesRenewed).severity, "Warning");
    EXPECT_THAT(reported(kCertificatesRenewed).message,
                testing::AllOf(HasSubstr("certificate node ends at " + end),
                               HasSubstr("is not approved yet")));
    advance(8h);
    EXPECT_EQ(reported(kCertificatesRenewed).severity, "Error");
    workload_.approve_all();
    advance(1min);
    EXPECT_EQ(reported(kCertificatesRenewed).status, ConditionStatus::yes);
}

TEST_F(Renewal, OfSeveralCertificatesThatWaitEachIsNamed) {
    join();
    management_.approves = false;
    workload_.approves = false;
    ASSERT_TRUE(command(model::Verb::renew));
    advance(1min);
    EXPECT_THAT(shown(kCertificateIssued).message,
                testing::AllOf(HasSubstr("https://management:6443: certificate request"),
                               HasSubstr("https://workload:6443: certificate request")));
}

TEST_F(Renewal, ThatDoesNotReachKubeletIsReported) {
    workload_.lifetime = 100h;
    join();
    const auto end = snapshot().certificates.at(1).not_after;
    executor_.fails_with = "the disk is full";
    advance(96h);
    ASSERT_GE(renewals(), 1U);
    EXPECT_EQ(reported(kCertificatesRenewed).severity, "Error");
    EXPECT_THAT(reported(kCertificatesRenewed).message,
                testing::AllOf(HasSubstr("certificate node of kubelet ends at " + end),
                               HasSubstr("the disk is full")));
    restart();
    advance(1min);
    EXPECT_THAT(shown(kCertificatesRenewed).message,
                HasSubstr("certificate node of kubelet was not renewed"));
    executor_.fails_with = "";
    advance(30min);
    EXPECT_EQ(reported(kCertificatesRenewed).status, ConditionStatus::yes);
}

TEST_F(Renewal, ThatWasStoredBeforeAKillReachesKubelet) {
    workload_.lifetime = 100h;
    join();
    executor_.holds_plans = true;
    advance(95h);
    ASSERT_EQ(renewals(), 1U);
    const std::string renewed = certificate_in("machine-u1.kubeconfig");
    agent_.reset();
    executor_.holds_plans = false;
    executor_.end_plan(model::PlanState::failed);
    start();
    advance(1min);
    EXPECT_EQ(renewals(), 2U);
    EXPECT_EQ(executor_.applied[1].steps, executor_.applied[2].steps);
    EXPECT_EQ(certificate_in("machine-u1.kubeconfig"), renewed);
    EXPECT_EQ(requests_for(workload_), 2U);
    advance(48h);
    EXPECT_EQ(renewals(), 2U) << "nothing is left to do";
}

TEST_F(Renewal, GoesOnWhileTheHostIsPaused) {
    workload_.lifetime = 100h;
    join();
    ASSERT_TRUE(command(model::Verb::pause));
    advance(95h);
    EXPECT_EQ(renewals(), 1U);
    EXPECT_EQ(phase(), Phase::paused);
}

TEST_F(Renewal, APersonMayAskForIt) {
    join();
    EXPECT_EQ(command(model::Verb::renew).value(),
              "renewing management, node; see kubexmctl certs");
    advance(1min);
    EXPECT_EQ(renewals(), 1U);
    EXPECT_THAT(management_.used_certificates, SizeIs(1));
    advance(24h);
    EXPECT_EQ(renewals(), 1U) << "once";
}

TEST_F(Renewal, APersonMayAskForThatOfOneCertificate) {
    join();
    const auto refused = command({model::Verb::renew, {}, kPerson, "control", "1", "ca"});
    EXPECT_THAT(refused.error().what, HasSubstr("expected one of management, node"));
    ASSERT_TRUE(command({model::Verb::renew, {}, kPerson, "control", "2", "node"}));
    advance(1min);
    EXPECT_EQ(renewals(), 1U);
    EXPECT_THAT(management_.used_certificates, testing::IsEmpty());
}

TEST_F(Renewal, TheStatusSaysWhatHappensNext) {
    workload_.lifetime = 100h;
    join();
    const auto node = [this] { return snapshot().certificates.at(1); };
    const auto begun = time_.now();
    EXPECT_EQ(node().next, model::CertificateAction::renew);
    EXPECT_GT(node().next_at, rfc3339(begun + 69h));
    EXPECT_LT(node().next_at, rfc3339(begun + 91h));
    ASSERT_THAT(node().issuers, SizeIs(1));
    workload_.approves = false;
    advance(95h);
    EXPECT_EQ(node().next, model::CertificateAction::approve);
    EXPECT_THAT(node().next_reason, HasSubstr("kubectl certificate approve"));
    workload_.refuse_status = 403;
    workload_.refuse_path = "certificatesigningrequests";
    restart();
    advance(2min);
    EXPECT_EQ(node().next, model::CertificateAction::retry);
    EXPECT_GT(node().next_at, rfc3339(time_.now()));
    EXPECT_NE(node().next_reason, "");
}

TEST_F(Renewal, AtItsTimeIsNobodysWordAlsoAfterAPersonHasAskedForOne) {
    workload_.lifetime = 100h;
    join();
    ASSERT_TRUE(command(model::Verb::renew));
    advance(1min);
    executor_.askers.clear();
    advance(95h);
    EXPECT_THAT(executor_.askers, testing::ElementsAre("apply for nobody"));
}

TEST_F(Renewal, IsJudgedByTheClockOfTheServer) {
    workload_.lifetime = 100h;
    join();
    advance(1h);
    workload_.clock_offset = 50h;
    advance(42h);
    EXPECT_EQ(renewals(), 1U);
}

TEST_F(Renewal, IsNotBegunByAClockThatRanAheadAtBoot) {
    workload_.lifetime = 100h;
    management_.lifetime = 100h;
    join();
    time_.set_clock(95h);
    restart();
    workload_.clock_offset = -95h;
    management_.clock_offset = -95h;
    advance(2min);
    EXPECT_EQ(renewals(), 0U);
    EXPECT_THAT(management_.used_certificates, testing::IsEmpty());
}

TEST_F(Renewal, HasAnotherKeyAlsoAfterAKillThatLeftTheOneInUse) {
    join();
    for (const char* identity : {"management", "machine-u1"}) {
        auto used = must(kube::credentials_from_kubeconfig(
            directory_.read(std::string(identity) + ".kubeconfig")));
        write_private(std::string(identity) + ".next.key", std::string(used.key.reveal()));
    }
    const std::string before = key_in("management.kubeconfig");
    const std::string node_before = key_in("machine-u1.kubeconfig");
    ASSERT_TRUE(command(model::Verb::renew));
    advance(1min);
    EXPECT_THAT(management_.used_certificates, SizeIs(1));
    EXPECT_NE(key_in("management.kubeconfig"), before);
    EXPECT_EQ(renewals(), 1U);
    EXPECT_NE(key_in("machine-u1.kubeconfig"), node_before);
}

TEST_F(Renewal, ACertificateThatIsAlwaysDueIsNoHotLoop) {
    workload_.lifetime = 1min;
    join();
    executor_.applied.clear();
    advance(10min);
    EXPECT_GE(renewals(), 1U);
    EXPECT_LE(renewals(), 10U);
}

}  // namespace
}  // namespace kubexm::agent
