#include "daemon/pki/authority.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/base/digest.hpp"
#include "tests/unit/test_authority.hpp"

namespace kubexm::pki {
namespace {

using testing::HasSubstr;

const std::pair<int, std::string> kIsAuthority{NID_basic_constraints, "critical,CA:TRUE"};

std::chrono::sys_seconds this_second() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

std::string refusal(const std::string& pem) {
    const auto read = read_authorities(pem, this_second());
    EXPECT_FALSE(read);
    return read ? "" : read.error().what;
}

Authority only(const std::string& pem) {
    auto read = read_authorities(pem, this_second());
    require(read.has_value() && read->size() == 1);
    return read->front();
}

TEST(Authorities, AreReadWithTheirPins) {
    const TestAuthority first("first");
    const TestAuthority second("second");
    const auto read = read_authorities(first.certificate() + second.certificate(), this_second());
    ASSERT_TRUE(read) << read.error().what;
    ASSERT_EQ(read->size(), 2U);
    EXPECT_EQ(read->at(0).name, "CN=first");
    EXPECT_EQ(read->at(1).name, "CN=second");
    EXPECT_EQ(read->at(0).pin.size(), 64U);
    EXPECT_NE(read->at(0).pin, read->at(1).pin);
    EXPECT_EQ(read->at(0).pem, first.certificate());
}

TEST(Authorities, ThePinIsTheHashOfThePublicKey) {
    const TestAuthority authority;
    const Key key = make_key();
    const std::string pem =
        authority.issue(key, {.subject = {{"CN", "below"}}, .extensions = {kIsAuthority}});
    EXPECT_EQ(only(pem).pin, sha256(key.public_key()));
}

TEST(Authorities, OthersAreRefused) {
    const TestAuthority authority;
    const Key key = make_key();
    EXPECT_THAT(refusal(authority.issue(key, {.subject = {{"CN", "leaf"}}})),
                HasSubstr("CN=leaf: expected a CA, found a leaf"));
    Wanted old{.subject = {{"CN", "old"}}, .extensions = {kIsAuthority}};
    old.begins = std::chrono::seconds(-7200);
    old.ends = std::chrono::seconds(-3600);
    EXPECT_THAT(refusal(authority.certificate() + authority.issue(key, old)),
                HasSubstr("CN=old: expected a CA that is valid now"));
    EXPECT_THAT(refusal("garbage"), HasSubstr("expected a certificate"));
    EXPECT_NE(refusal(authority.certificate() + pem_of(key)), "") << "a key";
    std::string many;
    for (std::size_t i = 0; i <= kMostAuthorities; ++i) many += authority.certificate();
    EXPECT_THAT(refusal(many), HasSubstr("at most 32"));
}

TEST(Authorities, OneThatHasExpiredDoesNotTakeTheOthersWithIt) {
    const TestAuthority authority("present");
    const Key key = make_key();
    const std::string expired = authority.issue(
        key,
        {.subject = {{"CN", "old"}}, .ends = std::chrono::hours(-1), .extensions = {kIsAuthority}});
    const std::string leaf = authority.issue(key, {.subject = {{"CN", "leaf"}}});
    const auto valid = valid_authorities(expired + authority.certificate() + leaf, this_second());
    ASSERT_EQ(valid.size(), 1U);
    EXPECT_EQ(valid.front().name, "CN=present");
    EXPECT_TRUE(valid_authorities("", this_second()).empty());
    EXPECT_TRUE(valid_authorities("garbage", this_second()).empty());
}

TEST(Authorities, ASignatureIsVerified) {
    const TestAuthority above("above");
    const TestAuthority impostor("above");  // the same name, another key
    const std::string pem =
        above.issue(make_key(), {.subject = {{"CN", "below"}}, .extensions = {kIsAuthority}});
    EXPECT_TRUE(has_signed(only(above.certificate()), only(pem)));
    EXPECT_FALSE(has_signed(only(impostor.certificate()), only(pem)));
    EXPECT_FALSE(has_signed(only(pem), only(above.certificate())));
}

}  // namespace
}  // namespace kubexm::pki
