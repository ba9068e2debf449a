#include "daemon/executor/engine/authorities.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    EXPECT_TRUE(may_use_server("https://api:6443", present));
    EXPECT_TRUE(may_use_server("https://other:6443", std::nullopt));
    const auto refused = may_use_server("https://other:6443", present);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("expected https://api:6443"));
}

TEST_F(AuthorityRules, OnlyABundleBringsContentThere) {
    using namespace model;
    for (const char* path : {kClusterCa, kClientCa}) {
        EXPECT_TRUE(may_touch_authorities(DataFile{path, DataKind::ca_bundle, "", {}}));
        EXPECT_FALSE(may_touch_authorities(DataFile{path, DataKind::registry_hosts, "", {}}));
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
