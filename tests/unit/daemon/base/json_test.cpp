#include "daemon/base/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace kubexm {
namespace {

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + "1" + std::string(depth, ']');
}

TEST(ParseJson, ReadsADocument) {
    auto document = parse_json(R"({"kind":"ByoHost","spec":{"capacity":{"cpu":"8"}}})", {});
    ASSERT_TRUE(document);
    EXPECT_EQ(document->at("spec").at("capacity").at("cpu"), "8");
    const std::string values = R"([null,true,-1,18446744073709551615,1.5,"a",{},[[],{"b":[2]}]])";
    EXPECT_EQ(parse_json(values, {})->dump(), values);
}

TEST(ParseJson, StopsExactlyAtTheDepthLimit) {
    EXPECT_TRUE(parse_json(nested(10), {.max_depth = 10}));
    auto refused = parse_json(nested(11), {.max_depth = 10});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), (Error{Code::invalid, "nested deeper than 10"}));
}

TEST(ParseJson, StopsEarlyInADeepBomb) {
    auto refused = parse_json(std::string(1 << 20, '['), {.max_bytes = 1 << 20, .max_depth = 10});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().what, "nested deeper than 10");
}

TEST(ParseJson, CountsValuesAndBytes) {
    EXPECT_TRUE(parse_json("[1,2,3]", {.max_values = 4}));
    EXPECT_EQ(parse_json("[1,2,3]", {.max_values = 3}).error().what, "more than 3 values");
    EXPECT_EQ(parse_json("[1,2,3]", {.max_bytes = 6}).error().what,
              "expected at most 6 bytes, found 7");
}

TEST(ParseJson, RefusesADuplicateMember) {
    EXPECT_EQ(parse_json(R"({"a":1,"b":2,"a":3})", {}).error().what, "duplicate member");
    EXPECT_EQ(parse_json(R"([{"a":{"b":1,"\u0062":2}}])", {}).error().what, "duplicate member");
    EXPECT_TRUE(parse_json(R"({"a":{"a":1},"b":[{"a":1},{"a":1}]})", {}));
}

TEST(ParseJson, AnErrorNamesThePlaceAndNeverQuotesTheInput) {
    auto refused = parse_json(R"({"token":"abcdef.0123456789abcdef" "x"})", {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().what, "not JSON: unexpected byte 38");
    EXPECT_FALSE(parse_json("", {}));
    EXPECT_FALSE(parse_json("{} trailing", {}));
    EXPECT_FALSE(parse_json("\"\xff\"", {}));
}

}  // namespace
}  // namespace kubexm
