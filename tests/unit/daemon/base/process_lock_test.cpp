#include "daemon/base/process_lock.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "tests/unit/temp_directory.hpp"

namespace kubexm {
namespace {

class ProcessLockTest : public testing::Test {
protected:
    Result<ProcessLock> take() const { return ProcessLock::take(directory_, "lock"); }

    /// The exit code of a check in another process; 0: as expected.
    int in_another_process(const std::function<bool(const Result<ProcessLock>&)>& expected) const {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(expected(take()) ? 0 : 1);
        int status = -1;
        ::waitpid(child, &status, 0);
        return status;
    }

    TempDirectory temp_;
    StateDirectory directory_ = StateDirectory::open(temp_.path()).value();
};

TEST_F(ProcessLockTest, NamesItsHolderToOtherProcesses) {
    const auto ours = take();
    ASSERT_TRUE(ours) << ours.error().what;
    const std::string us = "in use by process " + std::to_string(::getpid());
    EXPECT_EQ(in_another_process([&](const Result<ProcessLock>& theirs) {
                  return !theirs && theirs.error().code == Code::conflict &&
                         theirs.error().what.contains(us);
              }),
              0);
}

TEST_F(ProcessLockTest, IsHeldOnceInAProcess) {
    const auto ours = take();
    EXPECT_EQ(take().error().code, Code::conflict);
}

TEST_F(ProcessLockTest, IsReleasedWithItsProcess) {
    EXPECT_EQ(in_another_process([](const auto& theirs) { return theirs.has_value(); }), 0);
    EXPECT_TRUE(take());
}

}  // namespace
}  // namespace kubexm
