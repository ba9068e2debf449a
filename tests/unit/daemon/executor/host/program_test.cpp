#include "daemon/executor/host/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kubexm::executor {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Result<std::string> shell(const char* script, std::chrono::milliseconds patience = 20s) {
    return output_of({"/bin/sh", "-c", script}, 100, std::chrono::steady_clock::now() + patience);
}

TEST(Program, PrintsAndEnds) { EXPECT_EQ(shell("echo Kubernetes; echo 2 >&2"), "Kubernetes\n"); }

TEST(Program, HasNoEnvironmentAndNothingToRead) {
    EXPECT_EQ(shell("cat; echo ${HOME:-none}"), "none\n");
}

TEST(Program, ThatFailsIsAnError) {
    EXPECT_THAT(shell("exit 3").error().what, HasSubstr("exit code 3"));
    EXPECT_THAT(shell("kill -9 $$").error().what, HasSubstr("signal 9"));
    EXPECT_EQ(output_of({"/nowhere"}, 100, std::chrono::steady_clock::now() + 20s).error().code,
              Code::not_found);
}

TEST(Program, ThatPrintsTooMuchIsKilled) {
    EXPECT_EQ(shell("while :; do echo 0123456789; done").error().code, Code::exhausted);
}

TEST(Program, ThatDoesNotEndIsKilled) {
    EXPECT_EQ(shell("exec sleep 1000", 50ms).error().code, Code::timeout);
    EXPECT_THAT(shell("exec >&-; exec sleep 1000", 50ms).error().what, HasSubstr("signal 9"))
        << "also after it has closed its output";
}

}  // namespace
}  // namespace kubexm::executor
