#include "daemon/base/hex.hpp"

#include <gtest/gtest.h>

namespace kubexm {
namespace {

TEST(Hex, IsReadBackByteForByte) {
    const std::string bytes("\0\x7f\x80\xff z", 6);
    EXPECT_EQ(to_hex(bytes), "007f80ff207a");
    EXPECT_EQ(from_hex("007f80ff207a"), bytes);
    EXPECT_EQ(from_hex(""), "");
}

TEST(Hex, RefusesTextThatToHexDoesNotWrite) {
    for (const char* text : {"0", "0G", "0A", "0x10", " 0", "-1"}) {
        EXPECT_EQ(from_hex(text), std::nullopt) << text;
    }
}

TEST(Hex, KnowsASha256) {
    EXPECT_TRUE(is_sha256(std::string(64, 'a')));
    EXPECT_FALSE(is_sha256(std::string(63, 'a')));
    EXPECT_FALSE(is_sha256(std::string(65, 'a')));
    EXPECT_FALSE(is_sha256(std::string(64, 'A')));
    EXPECT_FALSE(is_sha256(std::string(63, 'a') + "g"));
}

}  // namespace
}  // namespace kubexm
