#include "daemon/pki/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>

#include <memory>
#include <string>

#include "tests/unit/daemon/pki/fixed_key.hpp"
#include "tests/unit/test_authority.hpp"

namespace kubexm::pki {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using ParsedRequest = std::unique_ptr<X509_REQ, TestRelease<::X509_REQ_free>>;

Key fixed_key() {
    auto key = Key::from_pem(kFixedPkcs8);
    require(key.has_value());
    return std::move(*key);
}

ParsedRequest parse(const std::string& pem) {
    const TestBio bio(::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    return ParsedRequest(::PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr));
}

std::string subject_of(X509_REQ* request) {
    const TestBio bio(::BIO_new(::BIO_s_mem()));
    ::X509_NAME_print_ex(bio.get(), ::X509_REQ_get_subject_name(request), 0, XN_FLAG_RFC2253);
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &bytes);
    return {bytes, static_cast<std::size_t>(size)};
}

TEST(Request, HasOnlyTheSubject) {
    const Key key = make_key();
    const auto pem = make_request(key, {"system:node:h1", "system:nodes"});
    ASSERT_TRUE(pem) << pem.error().what;
    EXPECT_THAT(*pem, StartsWith("-----BEGIN CERTIFICATE REQUEST-----\n"));
    const ParsedRequest request = parse(*pem);
    ASSERT_TRUE(request);
    EXPECT_EQ(subject_of(request.get()), "CN=system:node:h1,O=system:nodes");
    EXPECT_EQ(::X509_REQ_verify(request.get(), openssl_key(key).get()), 1);
    EXPECT_EQ(::X509_REQ_get_attr_count(request.get()), 0);
}

TEST(Request, IsReadBack) {
    const Key key = make_key();
    const auto pem = make_request(key, {"system:node:h1", "system:nodes"});
    ASSERT_TRUE(pem) << pem.error().what;
    const auto read = read_request(*pem);
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(read->public_key, key.public_key());
    EXPECT_EQ(read->subject, (Subject{"system:node:h1", "system:nodes"}));
    EXPECT_TRUE(read->has_only_subject);
}

TEST(Request, ThatIsNoneOrIsDamagedIsRefused) {
    std::string damaged = make_request(make_key(), {"system:node:h1", "system:nodes"}).value();
    damaged[damaged.find('\n') + 70] ^= 1;
    for (const std::string& text :
         {std::string(), std::string("rubbish"), pem_of(make_key()), damaged,
          std::string(1 << 20, '-'),
          std::string("-----BEGIN CERTIFICATE REQUEST-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: "
                      "AES-128-CBC,00000000000000000000000000000000\n\nAAAA\n"
                      "-----END CERTIFICATE REQUEST-----\n")}) {
        EXPECT_FALSE(read_request(text)) << text.substr(0, 80);
        EXPECT_EQ(::ERR_peek_error(), 0U);
    }
}

TEST(Request, AcceptsTheLongestNodeName) {
    const std::string name = "system:node:" + std::string(253, 'a');
    const auto pem = make_request(make_key(), {name, "system:nodes"});
    ASSERT_TRUE(pem) << pem.error().what;
    EXPECT_THAT(subject_of(parse(*pem).get()), HasSubstr(name));
}

TEST(Request, RefusesMalformedNames) {
    for (const Subject& subject :
         {Subject{"", "system:nodes"}, Subject{"h1", ""}, Subject{"h\n1", "o"},
          Subject{"h\xff", "o"}, Subject{std::string(513, 'a'), "o"}}) {
        const auto pem = make_request(make_key(), subject);
        ASSERT_FALSE(pem);
        EXPECT_EQ(pem.error().code, Code::invalid);
        EXPECT_EQ(::ERR_peek_error(), 0U);
    }
}

// Recomputed by hand with Python's hashlib and base64 from the key's DER.
TEST(Request, HasTheNameThatKubeletComputes) {
    EXPECT_EQ(node_request_name(fixed_key(), {"system:node:h1", "system:nodes"},
                                {"digital signature", "client auth"}),
              "node-csr-88xpjaiOlOxadgx6W63vQjaFqVtbr7ixHL4BLYAB1Iw");
}

TEST(Request, HasADifferentNameForADifferentRequest) {
    const Key key = fixed_key();
    const Subject node{"system:node:h1", "system:nodes"};
    const std::string name = node_request_name(key, node, {"digital signature", "client auth"});
    EXPECT_NE(name, node_request_name(key, node, {"client auth", "digital signature"}));
    EXPECT_NE(name, node_request_name(key, {"system:node:h2", "system:nodes"},
                                      {"digital signature", "client auth"}));
    EXPECT_NE(name, node_request_name(make_key(), node, {"digital signature", "client auth"}));
}

TEST(Request, OfAHostIsNamedByHostAndKey) {
    EXPECT_EQ(host_request_name(fixed_key(), "h1"), "byoh-csr-h1-7c51b634ea85fa68");
}

}  // namespace
}  // namespace kubexm::pki
