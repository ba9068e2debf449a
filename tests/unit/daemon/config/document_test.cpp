#include "daemon/config/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kubexm::config {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

struct Refusal {
    std::string text;
    std::string because;
};

class RefusedDocument : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedDocument, SaysWhereAndWhy) {
    Problems problems;
    problems.begin_file("f");
    parse_document(GetParam().text, problems);
    ASSERT_FALSE(problems.empty());
    EXPECT_EQ(problems.error().error().what, "f:" + GetParam().because);
}

constexpr const char* kTag = "expected a value without a tag, found one that begins with !";
constexpr const char* kAnchor = "expected a value without an anchor, found one that begins with &";
constexpr const char* kAlias = "expected a value, found an alias: write the value out";
constexpr const char* kText = "expected UTF-8 text without control characters and byte order mark";
constexpr const char* kEnd = "not YAML we read: expected the end of the file";

INSTANTIATE_TEST_SUITE_P(
    Document, RefusedDocument,
    testing::Values(Refusal{"a: !!str b", "1:4: " + std::string(kTag)},
                    Refusal{"a: !x b", "1:4: " + std::string(kTag)},
                    Refusal{"a: ! b", "1:4: " + std::string(kTag)},
                    Refusal{"a: !!null ~", "1:4: " + std::string(kTag)},
                    Refusal{"a: !!set {b}", "1:4: " + std::string(kTag)},
                    Refusal{"a: ! [b]", "1:4: " + std::string(kTag)},
                    Refusal{"a: &b !x c",
                            "1:4: " + std::string(kTag) + "\nf:1:4: " + std::string(kAnchor)},
                    Refusal{"a: &b c", "1:4: " + std::string(kAnchor)},
                    Refusal{"a: &b [c]", "1:4: " + std::string(kAnchor)},
                    Refusal{"a: &b {c: d}", "1:4: " + std::string(kAnchor)},
                    Refusal{"a: &b c\nd: *b",
                            "1:4: " + std::string(kAnchor) + "\nf:2:4: " + std::string(kAlias)},
                    Refusal{"a: 1\nb: 2\na: 3", "3:1: key \"a\" is there already, in line 1"},
                    Refusal{"{a: {b: 1, b: 2}}", "1:12: key \"b\" is there already, in line 1"},
                    Refusal{"[a]: 1", "1:1: expected the name of a key"},
                    Refusal{"? {a: b}\n: 1", "1:3: expected the name of a key"},
                    Refusal{"a: 1\n---\nb: 2", "2:1: " + std::string(kEnd)},
                    Refusal{"a: 1\n...\nb: 2", "3:1: " + std::string(kEnd)},
                    Refusal{"a: [b\n", "2:1: not YAML we read: end of sequence flow not found"},
                    Refusal{"a: \"b", "1:6: not YAML we read: illegal EOF in scalar"},
                    Refusal{"a: 1\nb: \xff", "2:4: " + std::string(kText)},
                    Refusal{"a: \x1b", "1:4: " + std::string(kText)},
                    Refusal{std::string("a\0b", 3), "1:2: " + std::string(kText)},
                    Refusal{"\xef\xbb\xbf"
                            "a: 1",
                            "1:1: " + std::string(kText)},
                    Refusal{std::string("\xfe\xff\0a", 4), "1:1: " + std::string(kText)},
                    Refusal{std::string(kMaxFileBytes + 1, ' '), " expected at most 256 KiB"}));

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + "x" + std::string(depth, ']');
}

std::string refusal_of(const std::string& text) {
    Problems problems;
    problems.begin_file("f");
    parse_document(text, problems);
    return problems.empty() ? "" : problems.error().error().what;
}

TEST(Document, StopsExactlyAtTheDepthLimit) {
    EXPECT_EQ(refusal_of(nested(10)), "");
    EXPECT_EQ(refusal_of(nested(11)), "f:1:11: not YAML we read: nested deeper than 10");
}

TEST(Document, ADeepBombIsRefusedAtOnce) {
    EXPECT_THAT(refusal_of(std::string(kMaxFileBytes, '[')), EndsWith("nested deeper than 10"));
    std::string blocks;
    for (int i = 0; i < 1000; ++i) blocks += "- ";
    EXPECT_THAT(refusal_of(blocks), EndsWith("nested deeper than 10"));
}

TEST(Document, AliasesDoNotMultiply) {
    const std::string laughs = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n";
    EXPECT_THAT(refusal_of(laughs), HasSubstr(kAlias));
}

TEST(Document, CountsValues) {
    std::string list;
    for (int i = 0; i < 4095; ++i) list += "- x\n";
    EXPECT_EQ(refusal_of(list), "");
    EXPECT_EQ(refusal_of(list + "- x\n"), "f: not YAML we read: more than 4096 values");
}

TEST(Document, KeepsTextAsItIsWritten) {
    Problems problems;
    problems.begin_file("f");
    const auto root = parse_document("a: 0755\nb: \"no\"\nc: 节点\nd: ~\n", problems);
    ASSERT_TRUE(problems.empty());
    if (!root) FAIL() << "nothing, and no problem";
    const Map& map = std::get<Map>(root->content);
    ASSERT_EQ(map.size(), 4U);
    EXPECT_EQ(std::get<std::string>(map[0].value.content), "0755");
    EXPECT_EQ(std::get<std::string>(map[1].value.content), "no");
    EXPECT_EQ(std::get<std::string>(map[2].value.content), "节点");
    EXPECT_TRUE(std::holds_alternative<Nothing>(map[3].value.content));
    EXPECT_EQ(map[1].value.at, (Mark{2, 4}));
}

}  // namespace
}  // namespace kubexm::config
