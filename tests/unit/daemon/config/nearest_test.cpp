#include "daemon/config/nearest.hpp"

#include <gtest/gtest.h>

#include <array>

namespace kubexm::config {
namespace {

TEST(Nearest, FindsTheMostSimilarKey) {
    constexpr std::array<std::string_view, 4> keys{"log", "executor", "state", "directories"};
    EXPECT_EQ(nearest("lgo", keys), "log");
    EXPECT_EQ(nearest("exector", keys), "executor");
    EXPECT_EQ(nearest("xstate", keys), "state");
    EXPECT_EQ(nearest("directory", keys), "directories");
    EXPECT_EQ(nearest("States", keys), "state");
    EXPECT_EQ(nearest("", keys), "log");
}

}  // namespace
}  // namespace kubexm::config
