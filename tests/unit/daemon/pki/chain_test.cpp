#include "daemon/pki/chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/test_authority.hpp"

namespace kubexm::pki {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

const Key kKey = make_key();

std::string leaf_of(const TestAuthority& authority) {
    return authority.issue(kKey, {.subject = {{"CN", "leaf"}}});
}

TEST(Issuers, AreFoundInTheBundleOrBesideTheLeaf) {
    const TestAuthority root("root");
    const TestAuthority other("other");
    const auto is_root = ElementsAre(Field(&Certificate::text, "CN=root"));
    EXPECT_THAT(issuers_of(leaf_of(root), other.certificate() + root.certificate()), is_root);
    EXPECT_THAT(issuers_of(leaf_of(root) + root.certificate(), ""), is_root);
}

TEST(Issuers, OfOneNameTheOneWhoseKeySignedCounts) {
    const TestAuthority root("root");
    const TestAuthority impostor("root");
    EXPECT_THAT(issuers_of(leaf_of(root), impostor.certificate()), IsEmpty());
    const auto found = issuers_of(leaf_of(root), impostor.certificate() + root.certificate());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().public_key, read_certificate(root.certificate())->public_key);
}

TEST(Issuers, AreUnknownWhereNothingIsReadable) {
    const TestAuthority root("root");
    EXPECT_THAT(issuers_of("", root.certificate()), IsEmpty());
    EXPECT_THAT(issuers_of("garbage", root.certificate()), IsEmpty());
    EXPECT_THAT(issuers_of(leaf_of(root), "garbage"), IsEmpty());
    EXPECT_THAT(issuers_of(root.certificate(), root.certificate()), IsEmpty()) << "it is the root";
}

}  // namespace
}  // namespace kubexm::pki
