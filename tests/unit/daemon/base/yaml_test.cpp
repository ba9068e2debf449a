#include "daemon/base/yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kubexm::yaml {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

struct Refusal {
    std::string text;
    std::string because;
};

/// "LINE:COLUMN: what: detail" of all problems.
std::string problems_of(const std::string& text) {
    std::string lines;
    for (const auto& [at, what, detail] : parse(text).problems) {
        if (!lines.empty()) lines += "\n";
        lines += std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + what;
        if (!detail.empty()) lines += ": " + detail;
    }
    return lines;
}

class RefusedDocument : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedDocument, HasTheProblemWithItsPlace) {
    EXPECT_EQ(problems_of(GetParam().text), GetParam().because);
}

constexpr const char* kTag = "expected a value without a tag, found one that begins with !";
constexpr const char* kAnchor = "expected a value without an anchor, found one that begins with &";
constexpr const char* kAlias = "expected a value, found an alias: write the value out";
constexpr const char* kText = "expected UTF-8 text without control characters and byte order mark";
constexpr const char* kEnd = "expected one document, found a second";

INSTANTIATE_TEST_SUITE_P(
    Document, RefusedDocument,
    testing::Values(
        Refusal{"a: !!str b", "1:4: " + std::string(kTag)},
        Refusal{"a: !x b", "1:4: " + std::string(kTag)},
        Refusal{"a: ! b", "1:4: " + std::string(kTag)},
        Refusal{"a: !!null ~", "1:4: " + std::string(kTag)},
        Refusal{"a: !!set {b}", "1:4: " + std::string(kTag)},
        Refusal{"a: ! [b]", "1:4: " + std::string(kTag)},
        Refusal{"a: &b !x c", "1:4: " + std::string(kTag) + "\n1:4: " + std::string(kAnchor)},
        Refusal{"a: &b c", "1:4: " + std::string(kAnchor)},
        Refusal{"a: &b [c]", "1:4: " + std::string(kAnchor)},
        Refusal{"a: &b {c: d}", "1:4: " + std::string(kAnchor)},
        Refusal{"a: &b c\nd: *b", "1:4: " + std::string(kAnchor) + "\n2:4: " + std::string(kAlias)},
        Refusal{"a: 1\nb: 2\na: 3", "3:1: duplicate key, first set in line 1: a"},
        Refusal{"{a: {b: 1, b: 2}}", "1:12: duplicate key, first set in line 1: b"},
        Refusal{"[a]: 1", "1:1: expected a text as key"},
        Refusal{"? {a: b}\n: 1", "1:3: expected a text as key"},
        Refusal{"a: 1\n---\nb: 2", "2:1: " + std::string(kEnd)},
        Refusal{"a: 1\n...\nb: 2", "3:1: " + std::string(kEnd)},
        Refusal{"a: [b\n", "2:1: not YAML: end of sequence flow not found"},
        Refusal{"a: \"b", "1:6: not YAML: illegal EOF in scalar"},
        Refusal{"a: 1\nb: \xff", "2:4: " + std::string(kText)},
        Refusal{"a: \x1b", "1:4: " + std::string(kText)},
        Refusal{std::string("a\0b", 3), "1:2: " + std::string(kText)},
        Refusal{"\xef\xbb\xbf"
                "a: 1",
                "1:1: " + std::string(kText)},
        Refusal{std::string("\xfe\xff\0a", 4), "1:1: " + std::string(kText)},
        Refusal{std::string(YamlLimits{}.max_bytes + 1, ' '),
                "0:0: expected at most 262144 bytes"}));

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + "x" + std::string(depth, ']');
}

TEST(Document, StopsExactlyAtTheDepthLimit) {
    EXPECT_EQ(problems_of(nested(10)), "");
    EXPECT_EQ(problems_of(nested(11)), "1:11: nested deeper than 10");
}

TEST(Document, StopsEarlyInADeepBomb) {
    EXPECT_THAT(problems_of(std::string(YamlLimits{}.max_bytes, '[')),
                EndsWith("nested deeper than 10"));
    std::string blocks;
    for (int i = 0; i < 1000; ++i) blocks += "- ";
    EXPECT_THAT(problems_of(blocks), EndsWith("nested deeper than 10"));
}

TEST(Document, RefusesAliasesInsteadOfExpandingThem) {
    const std::string laughs = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n";
    EXPECT_THAT(problems_of(laughs), HasSubstr(kAlias));
}

TEST(Document, HasNoRootWhereParsingStopped) {
    EXPECT_TRUE(std::holds_alternative<Rejected>(parse("a: [b\n").root.content));
    EXPECT_TRUE(std::holds_alternative<Map>(parse("a: 1\na: 2").root.content));
    EXPECT_TRUE(std::holds_alternative<Nothing>(parse("# empty").root.content));
}

TEST(Document, CountsValues) {
    std::string list;
    for (int i = 0; i < 4095; ++i) list += "- x\n";
    EXPECT_EQ(problems_of(list), "");
    EXPECT_EQ(problems_of(list + "- x\n"), "4096:3: more than 4096 values");
}

TEST(Document, KeepsScalarsAsTheyAreWritten) {
    const auto document = parse("a: 0755\nb: \"no\"\nc: 节点\nd: ~\n");
    ASSERT_TRUE(document.problems.empty());
    const Map& map = std::get<Map>(document.root.content);
    ASSERT_EQ(map.size(), 4U);
    EXPECT_EQ(std::get<std::string>(map[0].value.content), "0755");
    EXPECT_EQ(std::get<std::string>(map[1].value.content), "no");
    EXPECT_EQ(std::get<std::string>(map[2].value.content), "节点");
    EXPECT_TRUE(std::holds_alternative<Nothing>(map[3].value.content));
    EXPECT_EQ(map[1].value.at, (Mark{2, 4}));
}

}  // namespace
}  // namespace kubexm::yaml
