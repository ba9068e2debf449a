#include "daemon/cli/duration.hpp"

#include <gtest/gtest.h>

namespace kubexm::cli {
namespace {

using namespace std::chrono_literals;

TEST(Duration, IsANumberWithItsUnit) {
    EXPECT_EQ(duration_from("90s"), 90s);
    EXPECT_EQ(duration_from("30m"), 30min);
    EXPECT_EQ(duration_from("2h"), 2h);
    EXPECT_EQ(duration_from("1d"), 24h);
    EXPECT_EQ(duration_from("30d"), 720h);
}

TEST(Duration, IsRefusedOtherwise) {
    for (const char* text : {"", "s", "2", "0s", "-1h", "+1h", "1.5h", "2h30m", " 2h", "2h ", "2 h",
                             "2w", "2H", "0x2h", "31d", "721h", "4294967295d", "99999999999999h"}) {
        const auto refused = duration_from(text);
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().code, Code::invalid);
    }
}

}  // namespace
}  // namespace kubexm::cli
