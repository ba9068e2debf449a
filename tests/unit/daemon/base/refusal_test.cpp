#include "daemon/base/refusal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/crash_child.hpp"

namespace kubexm {
namespace {

Result<> check() { return refusal("units", Code::denied, "ssh.service is not in allow.units"); }

/// Whether the check refuses in a process with this setting.
bool refuses(const char* off) {
    const int status = crash::run_in_child("KUBEXM_TEST_CHECKS_OFF", off, [] {
        if (!check()) ::_exit(1);
    });
    return status != 0;
}

TEST(Refusal, SaysWhy) {
    const auto refused = check();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), (Error{Code::denied, "ssh.service is not in allow.units"}));
}

TEST(Refusal, IsOffByItsWholeNameOnly) {
    EXPECT_FALSE(refuses("units"));
    EXPECT_FALSE(refuses("path,units"));
    for (const char* others : {"", ",", "unit", "units2", "path", "path units", "UNITS"}) {
        EXPECT_TRUE(refuses(others)) << others;
    }
}

}  // namespace
}  // namespace kubexm
