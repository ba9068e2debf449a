#include "daemon/base/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kubexm {
namespace {

struct Shown {
    std::string text;
    std::string as;
};

class Printable : public testing::TestWithParam<Shown> {};

TEST_P(Printable, EscapesControlCharacters) {
    EXPECT_EQ(printable(GetParam().text), GetParam().as);
}

INSTANTIATE_TEST_SUITE_P(
    Text, Printable,
    testing::Values(Shown{"kubelet.service is active", "kubelet.service is active"},
                    Shown{"节点 node-1 é \U0001F600", "节点 node-1 é \U0001F600"},
                    Shown{"a\nb\tc\r", "a\\nb\\tc\\x0d"},  // a second line of log
                    Shown{"\x1b[2J", "\\x1b[2J"},          // clears a screen
                    Shown{"\xc2\x9b"
                          "2J",
                          "\\xc2\\x9b2J"},                              // the same as one character
                    Shown{std::string("a\0b\x7f", 4), "a\\x00b\\x7f"},  //
                    // NOLINTNEXTLINE(misc-misleading-bidirectional): that is the danger
                    Shown{"\xe2\x80\xa8|\xe2\x80\xae", "\\xe2\\x80\\xa8|\\xe2\\x80\\xae"},
                    Shown{"\\n", "\\\\n"},                       // not to be taken for ours
                    Shown{"\xff\x80|", "\\xff\\x80|"},           // no UTF-8
                    Shown{"\xe8\x8a", "\\xe8\\x8a"},             // cut off
                    Shown{"\xc3(", "\\xc3("},                    // goes on as something else
                    Shown{"\xc1\xa1|", "\\xc1\\xa1|"},           // an overlong a
                    Shown{"\xc0\x8a|", "\\xc0\\x8a|"},           // an overlong newline
                    Shown{"\xe0\x81\xa1|", "\\xe0\\x81\\xa1|"},  //
                    Shown{"\xed\xa0\x80|", "\\xed\\xa0\\x80|"},  // a surrogate
                    Shown{"\xf4\x90\x80\x80|", "\\xf4\\x90\\x80\\x80|"}  // beyond Unicode
                    ));

TEST(BoundedUtf8, CutsBetweenCharactersAndReplacesOtherBytes) {
    EXPECT_EQ(bounded_utf8("节点", 6), "节点");
    EXPECT_EQ(bounded_utf8("节点", 5), "节");
    EXPECT_EQ(bounded_utf8("a\xff\xe8\x8a", 100), "a\uFFFD\uFFFD\uFFFD");
    EXPECT_EQ(bounded_utf8("a\xff", 3), "a") << "U+FFFD needs three bytes";
    EXPECT_EQ(bounded_utf8("a", 0), "");
}

TEST(FirstCharacter, HasItsCodeAndLength) {
    EXPECT_EQ(first_character("a"), (Character{U'a', 1}));
    EXPECT_EQ(first_character("\U0001F600!"), (Character{U'\U0001F600', 4}));
}

}  // namespace
}  // namespace kubexm
