#include "daemon/base/try.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace kubexm {
namespace {

Result<std::unique_ptr<int>> half(int number) {
    if (number % 2 != 0) return fail(Code::invalid, std::to_string(number) + " is odd");
    return std::make_unique<int>(number / 2);
}

Result<> even(int number) {
    TRY(half(number));
    return {};
}

Result<int> quarter(int number) {
    const auto once = TRY(half(number));  // moves out what cannot be copied
    TRY(even(*once));
    return *TRY(half(*once));
}

TEST(Try, GoesOnWithTheValue) { EXPECT_EQ(quarter(12), 3); }

TEST(Try, ReturnsTheFirstError) {
    EXPECT_EQ(quarter(5).error(), (Error{Code::invalid, "5 is odd"}));
    EXPECT_EQ(quarter(6).error(), (Error{Code::invalid, "3 is odd"}));
}

}  // namespace
}  // namespace kubexm
