#include "daemon/base/crash_point.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/crash_child.hpp"

namespace kubexm {
namespace {

using crash::crash_points_of;
using crash::CrashPoint;
using crash::dies_at;
using crash::run_in_child;
using ::testing::ElementsAre;

void pass_three_times_and_another() {
    for (int i = 0; i < 3; ++i) crash_point("file.write.before");
    crash_point("file.write.after");
}

struct Case {
    CrashPoint point;
    bool dies = false;
};

TEST(CrashPoint, KillsAtTheGivenPassage) {
    const Case cases[] = {
        {{"file.write.before", 1}, true},  {{"file.write.before", 3}, true},
        {{"file.write.before", 4}, false}, {{"file.write.after", 1}, true},
        {{"file.write", 1}, false},        {{"file.write.before", 0}, false},
    };
    for (const auto& [point, dies] : cases) {
        EXPECT_EQ(dies_at(point, pass_three_times_and_another), dies) << point;
    }
}

TEST(CrashPoint, EndsTheProcessAtOnce) {
    const int status = run_in_child("KUBEXM_CRASH_AT", "here:1", [] {
        crash_point("here");
        ::_exit(7);
    });
    EXPECT_TRUE(WIFSIGNALED(status)) << "exit code " << WEXITSTATUS(status);
}

TEST(CrashPoint, IgnoresAMalformedVariable) {
    for (const char* setting : {"", "here", "here:", ":1", "here:x", "here:-1"}) {
        EXPECT_EQ(run_in_child("KUBEXM_CRASH_AT", setting, [] { crash_point("here"); }), 0)
            << setting;
    }
}

TEST(CrashPoint, KillsAGivenNumberOfPassagesLater) {
    const auto survives = [](const char* setting) {
        return run_in_child("KUBEXM_CRASH_AT", setting, pass_three_times_and_another) == 0;
    };
    EXPECT_FALSE(survives("file.write.before:1+0"));
    EXPECT_FALSE(survives("file.write.before:1+3"));
    EXPECT_TRUE(survives("file.write.before:1+4"));
    EXPECT_TRUE(survives("file.write.after:1+1"));
    EXPECT_TRUE(survives("file.write.before:0+1"));
}

TEST(CrashPoint, CountsThePassagesOfAllThreadsTogether) {
    const auto work = [] {
        std::thread other([] { crash_point("here"); });
        other.join();
        crash_point("here");
    };
    EXPECT_TRUE(dies_at({"here", 2}, work));
}

TEST(CrashPoint, TracesEveryPassedName) {
    EXPECT_THAT(crash_points_of(pass_three_times_and_another),
                ElementsAre(CrashPoint{"file.write.before", 1}, CrashPoint{"file.write.before", 2},
                            CrashPoint{"file.write.before", 3}, CrashPoint{"file.write.after", 1}));
}

}  // namespace
}  // namespace kubexm
