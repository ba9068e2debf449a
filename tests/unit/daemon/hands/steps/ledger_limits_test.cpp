#include <gtest/gtest.h>

#include "daemon/hands/steps/image.hpp"

namespace kubexm::hands {
namespace {

void expect_read_back(const Image& image) {
    auto again = image_from_json(to_json(image));
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(*again, image);
}

TEST(LedgerLimits, TakeAsManyNamesAsAStepRemembers) {
    expect_read_back(ByProductsImage{std::vector<std::string>(4000, std::string(255, 'n'))});
}

TEST(LedgerLimits, TakeTheLargestExtendedAttribute) {
    PathImage image{.kind = "file", .digest = "d", .target = "", .xattrs = {}};
    image.xattrs.push_back({"user.large", std::string(std::size_t{128} * 1024, 'f')});
    expect_read_back(image);
}

TEST(LedgerLimits, EndSomewhere) {
    EXPECT_FALSE(image_from_json(to_json(ValueImage{std::string(std::size_t{129} * 1024, 'v')})));
}

}  // namespace
}  // namespace kubexm::hands
