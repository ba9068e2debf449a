#include "daemon/executor/engine/authorities.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/executor/engine/joined_clusters.hpp"
#include "tests/unit/test_authority.hpp"

namespace kubexm::executor {
namespace {

using pki::Authority;
using testing::HasSubstr;

const std::vector<std::string> kNoPins;

Authority read_one(const std::string& pem) {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    auto read = pki::read_authorities(pem, now);
    require(read.has_value());
    return read->front();
}

class AuthorityRules : public testing::Test {
protected:
    Result<> judge(const Authority& wanted, CaUse use, const std::vector<std::string>& pins,
                   bool is_node = true) const {
        return judge(wanted, use, TrustedPins{.pinned = pins, .confirmed = {}}, is_node);
    }
    Result<> judge(const Authority& wanted, CaUse use, const TrustedPins& trusted,
                   bool is_node) const {
        const PresentCluster present{"https://api:6443", {present_}, {present_}, {}};
        return may_use_authorities({present_, wanted}, use, trusted,
                                   is_node ? std::optional(present) : std::nullopt);
    }

    TestAuthority own_{"own"};
    Authority present_ = read_one(own_.certificate());
    Authority theirs_ = read_one(TestAuthority("theirs").certificate());
    Authority below_ =
        read_one(own_.issue(make_key(), {.subject = {{"CN", "below"}},
                                         .extensions = {{NID_basic_constraints, "CA:TRUE"}}}));
};

TEST_F(AuthorityRules, ANewNodeMayTrustAnyUnlessPinned) {
    EXPECT_TRUE(judge(theirs_, CaUse::server, kNoPins, false));
    EXPECT_TRUE(judge(theirs_, CaUse::client, kNoPins, false));
    for (const CaUse use : {CaUse::server, CaUse::client}) {
        const auto refused = judge(theirs_, use, {present_.pin}, false);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Code::denied);
        EXPECT_THAT(refused.error().what, HasSubstr("CA CN=theirs with pin sha256:" + theirs_.pin));
        EXPECT_TRUE(judge(theirs_, use, {present_.pin, theirs_.pin}, false));
    }
}

TEST_F(AuthorityRules, AForeignCaNeverReachesTheClientsOfANode) {
    const auto refused = judge(theirs_, CaUse::client, kNoPins);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("or signed by one that this node trusts"));
    EXPECT_FALSE(judge(theirs_, CaUse::client, {present_.pin}));
    EXPECT_TRUE(judge(theirs_, CaUse::client, {theirs_.pin})) << "root pinned it";
    EXPECT_TRUE(judge(below_, CaUse::client, kNoPins)) << "the present one signed it";
}

TEST_F(AuthorityRules, TheServerOfANodeMayGetAFurtherCaUnlessPinned) {
    EXPECT_TRUE(judge(theirs_, CaUse::server, kNoPins));
    EXPECT_FALSE(judge(theirs_, CaUse::server, {present_.pin}));
    EXPECT_TRUE(judge(below_, CaUse::server, {present_.pin}));
}

TEST_F(AuthorityRules, TheServerOfANodeKeepsOneOfItsCas) {
    const std::optional<PresentCluster> present({"https://api:6443", {present_}, {present_}, {}});
    const auto alone = [&](const Authority& wanted, const TrustedPins& trusted) {
        return may_use_authorities({wanted}, CaUse::server, trusted, present);
    };
    EXPECT_THAT(alone(theirs_, {}).error().what, HasSubstr("not in place of all"));
    EXPECT_TRUE(alone(below_, {})) << "the present one signed it";
    EXPECT_TRUE(alone(theirs_, {.pinned = {theirs_.pin}, .confirmed = {}}));
    EXPECT_TRUE(alone(theirs_, {.pinned = {}, .confirmed = {theirs_.pin}}));
}

TEST_F(AuthorityRules, TheServerOfANodeIsNotReplacedInTwoSteps) {
    const PresentCluster added{"https://api:6443", {present_, theirs_}, {present_}, {}};
    const auto alone = [&](const Authority& wanted, const TrustedPins& trusted) {
        return may_use_authorities({wanted}, CaUse::server, trusted, added);
    };
    EXPECT_FALSE(alone(theirs_, {})) << "nobody confirmed it";
    EXPECT_TRUE(alone(theirs_, {.pinned = {}, .confirmed = {theirs_.pin}}));
    EXPECT_TRUE(alone(present_, {}));
}

TEST_F(AuthorityRules, ASignedCaIsOneOfTheLastJoin) {
    const std::vector<JoinedCluster> joined{{"https://api:6443", {"s"}, {present_.pin}}};
    const JoinedCluster again{"https://api:6443", {"other", "s"}, {}};
    EXPECT_TRUE(may_join_again(joined, again, {present_, below_}, {}));
    EXPECT_FALSE(may_join_again(joined, again, {below_}, {})) << "nobody can tell";
    EXPECT_FALSE(may_join_again(joined, {"https://ip:6443", {"s"}, {}}, {theirs_}, {}));
    EXPECT_TRUE(may_join_again(joined, {"https://api:6443", {"other"}, {}}, {theirs_}, {}));
    EXPECT_TRUE(
        may_join_again(joined, again, {theirs_}, {.pinned = {theirs_.pin}, .confirmed = {}}));
}

TEST_F(AuthorityRules, RootConfirmsACaBesideThePins) {
    const TrustedPins trusted{.pinned = {present_.pin}, .confirmed = {theirs_.pin}};
    for (const CaUse use : {CaUse::server, CaUse::client}) {
        EXPECT_TRUE(judge(theirs_, use, trusted, true));
        EXPECT_TRUE(judge(theirs_, use, trusted, false));
        EXPECT_TRUE(judge(theirs_, use, TrustedPins{{}, {theirs_.pin}}, true));
    }
}

TEST_F(AuthorityRules, ACaThatCameLaterIsNotConfirmedUntilRootSaysSo) {
    const PresentCluster present{"https://api:6443", {present_, below_, theirs_}, {present_}, {}};
    EXPECT_THAT(unconfirmed(present, {}), testing::ElementsAre(theirs_));
    const PresentCluster of_root{"https://api:6443", {theirs_}, {}, {}};
    EXPECT_THAT(unconfirmed(of_root, {}), testing::IsEmpty()) << "nobody knows what came later";
    EXPECT_THAT(unconfirmed(present, {.pinned = {theirs_.pin}, .confirmed = {}}),
                testing::IsEmpty());
    EXPECT_THAT(unconfirmed(present, {.pinned = {}, .confirmed = {theirs_.pin}}),
                testing::IsEmpty());
}

TEST_F(AuthorityRules, ANodeKeepsItsServer) {
    const PresentCluster present{"https://api:6443", {}, {}, {}};
    const model::Kubeconfig same{.server = "https://api:6443"};
    const model::Kubeconfig other{.server = "https://other:6443"};
    EXPECT_TRUE(may_use_server(same, present));
    EXPECT_TRUE(may_use_server(other, std::nullopt));
    const auto refused = may_use_server(other, present);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("expected https://api:6443"));
}

TEST_F(AuthorityRules, ANodeKeepsTheNameOfItsServer) {
    const PresentCluster present{"https://api:6443", {}, {}, {}, "api.example"};
    model::Kubeconfig wanted{.server = "https://api:6443", .server_name = "api.example"};
    EXPECT_TRUE(may_use_server(wanted, present));
    wanted.server_name = "evil.example";
    EXPECT_THAT(may_use_server(wanted, present).error().what,
                HasSubstr("expected https://api:6443 with the name api.example"));
    wanted.server_name.reset();
    EXPECT_FALSE(may_use_server(wanted, present));
}

TEST_F(AuthorityRules, OnlyABundleBringsContentThere) {
    using namespace model;
    for (const char* path : {kClusterCa, kClientCa}) {
        EXPECT_TRUE(may_touch_authorities(DataFile{path, DataKind::ca_bundle, "", {}}));
        EXPECT_FALSE(may_touch_authorities(SecretFile{.path = path}));
        EXPECT_FALSE(may_touch_authorities(Symlink{path, "other.crt"}));
        EXPECT_FALSE(may_touch_authorities(ManagedBlock{.path = path}));
        EXPECT_FALSE(may_touch_authorities(AbsentPath{path}));
    }
    EXPECT_TRUE(may_touch_authorities(model::Claim{"/etc/kubernetes/pki"}));
    const DataFile server{kClusterCa, DataKind::ca_bundle, "", {}};
    const DataFile client{kClientCa, DataKind::ca_bundle, "", {}};
    EXPECT_TRUE(brings_authorities({server, client}));
    EXPECT_FALSE(brings_authorities({server}));
    EXPECT_FALSE(brings_authorities({client}));
    EXPECT_FALSE(may_touch_authorities(Symlink{"/etc/kubernetes/pki", "/var/lib/kubelet/pki"}));
    EXPECT_TRUE(may_touch_authorities(Symlink{"/etc/kubernetes/pki/other.crt", "x"}));
    EXPECT_TRUE(may_touch_authorities(model::Directory{"/etc/kubernetes/pki"}));
}

}  // namespace
}  // namespace kubexm::executor
