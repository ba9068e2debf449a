#include "daemon/base/base64.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

namespace kubexm {
namespace {

using namespace std::string_literals;

// RFC 4648, section 10, and bytes that use the last two digits.
const std::array<std::pair<std::string, std::string>, 9> kPairs{{{"", ""},
                                                                 {"f", "Zg=="},
                                                                 {"fo", "Zm8="},
                                                                 {"foo", "Zm9v"},
                                                                 {"foob", "Zm9vYg=="},
                                                                 {"fooba", "Zm9vYmE="},
                                                                 {"foobar", "Zm9vYmFy"},
                                                                 {"\xfb\xef\xff"s, "++//"},
                                                                 {"\0\0"s, "AAA="}}};

TEST(Base64, WritesAndReads) {
    for (const auto& [bytes, text] : kPairs) {
        EXPECT_EQ(base64(bytes), text);
        const auto back = from_base64(text);
        ASSERT_TRUE(back) << text;
        EXPECT_EQ(*back, bytes);
    }
}

TEST(Base64, WritesForUrls) {
    EXPECT_EQ(base64url("\xfb\xef\xff"), "--__");
    EXPECT_EQ(base64url("f"), "Zg");
    EXPECT_EQ(base64url("fooba"), "Zm9vYmE");
}

TEST(Base64, RefusesEverythingElse) {
    for (const std::string& text :
         {"Zg"s, "Zg="s, "Zg==="s, "="s, "===="s, "Zg==Zg=="s, "Zm9v\n"s, "Zm 9"s, "--__"s, "Zh=="s,
          "Zm9="s, "Z==="s, "Zm9\0"s, "A==="s, "\xff\xff\xff\xff"s}) {
        const auto bytes = from_base64(text);
        ASSERT_FALSE(bytes) << text;
        EXPECT_EQ(bytes.error().code, Code::invalid);
        EXPECT_EQ(bytes.error().what, "expected base64 on one line");
    }
}

}  // namespace
}  // namespace kubexm
