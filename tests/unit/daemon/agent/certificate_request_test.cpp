#include <filesystem>

#include "daemon/kube/signing.hpp"
#include "daemon/pki/request.hpp"
#include "harness/harness.hpp"

// Certificate requests that somebody else has made, denied, or answered wrongly.

namespace kubexm::agent {
namespace {

using namespace std::chrono_literals;
using model::ConditionStatus;
using model::Phase;
using testing::HasSubstr;
using testing::SizeIs;

class CertificateRequests : public Harness {
protected:
    const pki::Subject kSubject{"byoh:host:h1", "byoh:hosts"};

    void SetUp() override {
        const CredentialStore store = must(CredentialStore::open(directory_.path()));
        ASSERT_TRUE(store.write("management.key", Secret(pem_of(key_))));
    }
    static std::string path_of_request(const std::string& name) {
        return std::string(kube::kSigningPath) + "/" + name;
    }
    std::string name() const { return pki::host_request_name(key_, "h1"); }
    /// As this host makes it with its pending key.
    kube::SigningRequest own_request() const {
        return {name(),
                "kubernetes.io/kube-apiserver-client",
                must(pki::make_request(key_, kSubject)),
                {"client auth"},
                {}};
    }
    void put_request(const kube::SigningRequest& request) {
        management_.put(path_of_request(request.name), to_json(request));
    }
    void deny_all() {
        for (const json& each : management_.all(kube::kSigningPath)) {
            management_.patch(
                path_of_request(each.at("metadata").at("name").get<std::string>()),
                {{"status",
                  {{"conditions", json::array({{{"type", "Denied"}, {"status", "True"}}})}}}});
        }
        settle();
    }
    std::size_t posts() const {
        return count_requests(management_, std::string("POST ") + kube::kSigningPath);
    }

    const pki::Key key_ = make_key();
};

TEST_F(CertificateRequests, OfAnEarlierTryAreFoundAgain) {
    put_request(own_request());
    start();
    management_.approve_all();
    settle();
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_EQ(posts(), 1U);
    EXPECT_THAT(management_.all(kube::kSigningPath), SizeIs(1));
}

TEST_F(CertificateRequests, OfSomebodyElseAreNotAdopted) {
    const auto own = own_request();
    std::vector<kube::SigningRequest> squatted(6, own);
    squatted[0].request = must(pki::make_request(make_key(), kSubject));
    squatted[1].request = must(pki::make_request(key_, {"byoh:host:h2", "byoh:hosts"}));
    squatted[2].request = "rubbish";
    squatted[3].signer = "example.com/other";
    squatted[4].usages = {"client auth", "server auth"};
    squatted[5].usages.clear();
    for (const kube::SigningRequest& request : squatted) {
        SetUp();
        put_request(request);
        start();
        EXPECT_EQ(phase(), Phase::waiting) << to_json(request);
        EXPECT_EQ(posts(), 2U);
        EXPECT_FALSE(management_.find(path_of_request(name()))->contains("status"));
        agent_.reset();
        std::filesystem::remove(directory_ / "management.kubeconfig");
        management_.requests.clear();
    }
}

TEST_F(CertificateRequests, ThatAreDeniedWaitAtLeastTenMinutesAndThenHaveAnotherKey) {
    management_.approves = false;
    start();
    deny_all();
    advance(599s);
    EXPECT_EQ(posts(), 1U);
    EXPECT_THAT(shown(kManagementClusterReachable).message,
                testing::AllOf(HasSubstr("Denied"), HasSubstr("the next request follows at 20")));
    advance(30min);
    EXPECT_EQ(posts(), 2U);
    EXPECT_THAT(management_.all(kube::kSigningPath), SizeIs(2));
    deny_all();
    advance(19min);
    EXPECT_EQ(posts(), 2U);
    management_.approves = true;
    advance(1h);
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_EQ(posts(), 3U);
}

TEST_F(CertificateRequests, WithAWrongAnswerWait) {
    management_.lifetime = -1min;
    start();
    advance(599s);
    EXPECT_EQ(posts(), 1U);
    management_.lifetime = 100h;
    advance(30min);
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_EQ(posts(), 2U);
}

TEST_F(CertificateRequests, AreMadeAtOnceWithOtherBootstrapCredentials) {
    management_.approves = false;
    start();
    deny_all();
    management_.approves = true;
    directory_.write("bootstrap", management_.kubeconfig("uvw.xyz"));
    executor_.pass_bootstrap(management_.kubeconfig("uvw.xyz"));
    advance(1s);
    EXPECT_EQ(phase(), Phase::waiting);
}

TEST_F(CertificateRequests, OfARenewalWaitToo) {
    management_.lifetime = 100h;
    join();
    management_.approves = false;
    advance(95h);
    management_.requests.clear();
    deny_all();
    advance(599s);
    EXPECT_EQ(posts(), 0U);
    management_.approves = true;
    ASSERT_TRUE(command(model::Verb::renew)) << "a person may ask at once";
    advance(1min);
    EXPECT_EQ(posts(), 1U);
    EXPECT_THAT(management_.used_certificates, SizeIs(1));
}

TEST_F(CertificateRequests, AreJudgedByTheClockOfTheServer) {
    management_.clock_offset = 2h;
    start();
    EXPECT_EQ(phase(), Phase::waiting);
    EXPECT_EQ(posts(), 1U);
}

}  // namespace
}  // namespace kubexm::agent
