#include "daemon/pki/self_signed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/pki/certificate.hpp"
#include "tests/unit/test_authority.hpp"

namespace kubexm::pki {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_seconds;

constexpr sys_seconds kNow{1'800'000'000s};

TEST(SelfSigned, IsAServingCertificateOfTheHost) {
    const Key key = make_key();
    const auto pem = self_signed(key, "h1", kNow, 24h);
    ASSERT_TRUE(pem) << pem.error().what;
    const auto read = read_certificate(*pem);
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(read->text, "CN=h1");
    EXPECT_EQ(read->public_key, key.public_key());
    EXPECT_EQ(read->not_before, kNow);
    EXPECT_EQ(read->not_after, kNow + 24h);
    EXPECT_FALSE(read->client_auth);
    EXPECT_FALSE(read->is_authority);
    EXPECT_TRUE(read->has_alternative_names);
}

TEST(SelfSigned, HasASerialOfItsOwn) {
    const Key key = make_key();
    const auto first = self_signed(key, "h1", kNow, 1h);
    const auto second = self_signed(key, "h1", kNow, 1h);
    ASSERT_TRUE(first && second);
    EXPECT_NE(read_certificate(*first)->serial, read_certificate(*second)->serial);
}

TEST(SelfSigned, IsRefusedForWhatIsNoName) {
    for (const char* host : {"", "h1,DNS:other", "a b", "*"}) {
        const auto made = self_signed(make_key(), host, kNow, 1h);
        ASSERT_FALSE(made) << host;
        EXPECT_EQ(made.error().code, Code::invalid);
    }
}

}  // namespace
}  // namespace kubexm::pki
