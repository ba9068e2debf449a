#include "daemon/pki/certificate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>

#include <array>
#include <chrono>
#include <string>

#include "tests/unit/test_authority.hpp"

namespace kubexm::pki {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const Subject kNode{"system:node:h1", "system:nodes"};
const std::pair<int, std::string> kClient{NID_ext_key_usage, "clientAuth"};

std::chrono::sys_seconds now() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

bool is_about(std::chrono::sys_seconds time, std::chrono::sys_seconds expected) {
    return std::chrono::abs(time - expected) < 10s;
}

Wanted good() {
    return {.subject = {{"O", "system:nodes"}, {"CN", "system:node:h1"}}, .extensions = {kClient}};
}

class Issued : public testing::Test {
protected:
    Certificate read(const Wanted& wanted) const {
        auto certificate = read_certificate(authority_.issue(key_, wanted));
        require(certificate.has_value());
        return std::move(*certificate);
    }
    std::string finding(const Wanted& wanted) const {
        const auto checked = check_issued(read(wanted), key_, kNode, now());
        if (checked) return "";
        EXPECT_EQ(checked.error().code, Code::invalid);
        EXPECT_EQ(::ERR_peek_error(), 0U);
        return checked.error().what;
    }

    TestAuthority authority_;
    Key key_ = make_key();
};

TEST_F(Issued, IsDescribed) {
    const Certificate certificate = read(good());
    EXPECT_EQ(certificate.subject, kNode);
    EXPECT_EQ(certificate.text, "CN=system:node:h1, O=system:nodes");
    EXPECT_EQ(certificate.serial, "0a02");  // the authority's own was the first
    EXPECT_EQ(certificate.public_key, key_.public_key());
    EXPECT_TRUE(is_about(certificate.not_before, now() - 300s));
    EXPECT_TRUE(is_about(certificate.not_after, now() + 3600s));
    EXPECT_TRUE(certificate.client_auth);
    EXPECT_FALSE(certificate.is_authority);
    EXPECT_FALSE(certificate.has_alternative_names);
}

TEST_F(Issued, MatchingTheRequestIsAccepted) { EXPECT_EQ(finding(good()), ""); }

TEST_F(Issued, ForAnotherKeyIsRefused) {
    const auto other = read_certificate(authority_.issue(make_key(), good()));
    ASSERT_TRUE(other);
    const auto checked = check_issued(*other, key_, kNode, now());
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().what, HasSubstr("expected our key"));
}

struct Bad {
    const char* finding;
    Wanted wanted;
};

TEST_F(Issued, WithAnyDifferenceIsRefused) {
    const std::pair<const char*, std::string> organization{"O", "system:nodes"};
    const std::pair<const char*, std::string> name{"CN", "system:node:h1"};
    const std::array<Bad, 12> all{{
        {"found CN=system:node:h2", {.subject = {organization, {"CN", "system:node:h2"}}}},
        {"found CN=system:node:h1, O=system:masters", {.subject = {{"O", "system:masters"}, name}}},
        {"found CN=system:node:h1", {.subject = {name}}},
        {"expected the subject", {.subject = {{"O", "system:masters"}, organization, name}}},
        {"expected the subject", {.subject = {organization, name, {"OU", "x"}}}},
        {"expected the subject", {.subject = {organization, name, name}}},
        {"client auth", {.extensions = {{NID_ext_key_usage, "serverAuth"}}}},
        {"client auth", {.extensions = {{NID_key_usage, "digitalSignature"}}}},
        {"expected a leaf certificate",
         {.extensions = {kClient, {NID_basic_constraints, "CA:TRUE"}}}},
        {"alternative names", {.extensions = {kClient, {NID_subject_alt_name, "DNS:h1"}}}},
        {"notBefore", {.begins = 60s}},
        {"notAfter", {.ends = -1s}},
    }};
    for (Bad bad : all) {
        if (bad.wanted.subject.empty()) bad.wanted.subject = good().subject;
        if (bad.wanted.extensions.empty()) bad.wanted.extensions = good().extensions;
        EXPECT_THAT(finding(bad.wanted), HasSubstr(bad.finding));
    }
}

TEST_F(Issued, TextCannotPretendAnotherSubject) {
    const Certificate certificate =
        read({.subject = {{"CN", "system:node:h1, O=system:nodes\n"}}, .extensions = {kClient}});
    EXPECT_THAT(certificate.text, testing::Not(HasSubstr("\n")));
    EXPECT_NE(certificate.text, "CN=system:node:h1, O=system:nodes");
}

TEST_F(Issued, IsTheFirstOfAChain) {
    const auto chain = read_certificate(authority_.issue(key_, good()) + authority_.certificate());
    ASSERT_TRUE(chain);
    EXPECT_EQ(chain->subject, kNode);
}

TEST(Bundle, IsNormalised) {
    const TestAuthority one("one");
    const TestAuthority two("two");
    const auto bundle = read_bundle("# the first\r\n" + one.certificate() + "\n\nsecond:\n" +
                                    two.certificate() + "\n");
    ASSERT_TRUE(bundle) << bundle.error().what;
    EXPECT_EQ(*bundle, one.certificate() + two.certificate());
}

TEST(Bundle, HasTheSameFingerprintsInAnyOrder) {
    const std::string one = TestAuthority("one").certificate();
    const std::string two = TestAuthority("two").certificate();
    const auto both = fingerprints_of(one + two);
    const auto reversed = fingerprints_of("text\n" + two + one);
    const auto first = fingerprints_of(one);
    ASSERT_TRUE(both && reversed && first);
    EXPECT_EQ(*both, *reversed);
    EXPECT_EQ(first->size(), 1U);
    EXPECT_TRUE(std::ranges::includes(*both, *first));
    EXPECT_FALSE(fingerprints_of(""));
}

TEST(Bundle, RefusesEverythingElse) {
    const std::string good = TestAuthority().certificate();
    const std::string end = "-----END CERTIFICATE-----\n";
    const std::string body = good.substr(0, good.size() - end.size());
    const std::array<std::string, 11> all{
        "",
        "garbage",
        body,                                         // not closed
        good + body,                                  // the second not closed
        good + "-----BEGIN CERTIFICATE----\nAA==\n",  // a damaged beginning
        good + pem_of(make_key()),
        good + "-----BEGIN CERTIFICATE-----\nbm90IERFUg==\n" + end,
        "-----BEGIN CERTIFICATE-----\nHeader: x\n\n" + good.substr(28),
        body.substr(0, 200) + "\n" + end,
        std::string(std::size_t{513} * 1024, '\n'),
        std::string("\0\xff\x30\x82", 4),
    };
    for (const std::string& text : all) {
        const auto bundle = read_bundle(text);
        ASSERT_FALSE(bundle) << text;
        EXPECT_EQ(bundle.error().code, Code::invalid) << text;
        EXPECT_EQ(::ERR_peek_error(), 0U);
        EXPECT_FALSE(read_certificate(text));
    }
}

TEST(Bundle, NamesTheBlockWithoutItsContent) {
    const std::string key = pem_of(make_key());
    const auto bundle = read_bundle(key);
    ASSERT_FALSE(bundle);
    EXPECT_EQ(bundle.error().what,
              "block 1 of the PEM text: expected a certificate, found PRIVATE KEY");
}

TEST(Bundle, HasALimit) {
    const std::string one = TestAuthority().certificate();
    std::string many;
    for (int i = 0; i < 257; ++i) many += one;
    EXPECT_FALSE(read_bundle(many));
    EXPECT_TRUE(read_bundle(many.substr(one.size())));
}

}  // namespace
}  // namespace kubexm::pki
