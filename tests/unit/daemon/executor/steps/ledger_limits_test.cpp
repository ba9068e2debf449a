#include <gtest/gtest.h>

#include "daemon/executor/steps/pre_image.hpp"

namespace kubexm::executor {
namespace {

void expect_read_back(const PreImage& image) {
    auto again = image_from_json(to_json(image));
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(*again, image);
}

TEST(LedgerLimits, AllowAsManyNamesAsAStepRecords) {
    expect_read_back(SideEffectsPreImage{std::vector<std::string>(4000, std::string(255, 'n'))});
}

TEST(LedgerLimits, AllowTheLargestExtendedAttribute) {
    PathPreImage image{.kind = PathKind::file, .digest = "d", .target = "", .xattrs = {}};
    image.xattrs.push_back({"user.large", std::string(std::size_t{128} * 1024, 'f')});
    expect_read_back(image);
}

TEST(LedgerLimits, RefuseLongerStrings) {
    EXPECT_FALSE(
        image_from_json(to_json(ValuePreImage{std::string(std::size_t{129} * 1024, 'v')})));
}

}  // namespace
}  // namespace kubexm::executor
