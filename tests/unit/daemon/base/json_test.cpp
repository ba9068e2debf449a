#include "daemon/base/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace kubexm {
namespace {

std::string nested(int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') + "1" +
           std::string(static_cast<std::size_t>(depth), ']');
}

TEST(ParseJson, ReadsADocument) {
    auto document = parse_json(R"({"kind":"ByoHost","spec":{"capacity":{"cpu":"8"}}})", {});
    ASSERT_TRUE(document);
    EXPECT_EQ(document->at("spec").at("capacity").at("cpu"), "8");
}

TEST(ParseJson, StopsExactlyAtTheDepthLimit) {
    EXPECT_TRUE(parse_json(nested(10), {.max_depth = 10}));
    auto refused = parse_json(nested(11), {.max_depth = 10});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), (Error{Code::invalid, "nested deeper than 10"}));
}

TEST(ParseJson, ADeepBombIsRefusedWithoutBeingBuilt) {
    auto refused = parse_json(std::string(1 << 20, '['), {.max_bytes = 1 << 20, .max_depth = 10});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().what, "nested deeper than 10");
}

TEST(ParseJson, CountsValuesAndBytes) {
    EXPECT_TRUE(parse_json("[1,2,3]", {.max_values = 4}));
    EXPECT_EQ(parse_json("[1,2,3]", {.max_values = 3}).error().what, "more than 3 values");
    EXPECT_EQ(parse_json("[1,2,3]", {.max_bytes = 6}).error().what, "7 bytes, at most 6 are read");
}

TEST(ParseJson, AMemberIsGivenOnce) {
    EXPECT_EQ(parse_json(R"({"a":1,"b":2,"a":3})", {}).error().what, "a member is given twice");
    EXPECT_EQ(parse_json(R"([{"a":{"b":1,"\u0062":2}}])", {}).error().what,
              "a member is given twice");
    EXPECT_TRUE(parse_json(R"({"a":{"a":1},"b":[{"a":1},{"a":1}]})", {}));
}

TEST(ParseJson, AnErrorNamesThePlaceAndNeverQuotesTheInput) {
    auto refused = parse_json(R"({"token":"abcdef.0123456789abcdef" "x"})", {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().what, "not JSON: byte 38 was not expected");
    EXPECT_FALSE(parse_json("", {}));
    EXPECT_FALSE(parse_json("{} trailing", {}));
    EXPECT_FALSE(parse_json("\"\xff\"", {}));
}

}  // namespace
}  // namespace kubexm
