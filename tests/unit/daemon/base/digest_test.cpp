#include "daemon/base/digest.hpp"

#include <gtest/gtest.h>

namespace kubexm {
namespace {

// The published test vectors of FIPS 180.
TEST(Sha256, MatchesThePublishedVectors) {
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, IsIndependentOfThePieces) {
    Sha256 pieces;
    pieces.update("a");
    pieces.update("");
    pieces.update("bc");
    EXPECT_EQ(pieces.finish(), sha256("abc"));
}

TEST(Sha256, RestartsAfterFinish) {
    Sha256 digest;
    digest.update("something else");
    digest.finish();
    digest.update("abc");
    EXPECT_EQ(digest.finish(), sha256("abc"));
}

}  // namespace
}  // namespace kubexm
