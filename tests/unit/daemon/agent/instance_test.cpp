#include "daemon/agent/instance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace kubexm::agent {
namespace {

class Instance : public testing::Test {
protected:
    Instance() { EXPECT_NE(::mkdtemp(directory_.data()), nullptr); }
    ~Instance() override { std::filesystem::remove_all(directory_); }

    /// What another process gets; 0: it may run.
    int other_process_gets(const std::function<bool(const Result<Fd>&)>& expected) {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(expected(become_only_instance(directory_)) ? 0 : 1);
        int status = -1;
        ::waitpid(child, &status, 0);
        return status;
    }

    std::string directory_ = testing::TempDir() + "instance-XXXXXX";
};

TEST_F(Instance, IsTheOnlyOneAndSaysWhoItIs) {
    auto ours = become_only_instance(directory_);
    ASSERT_TRUE(ours) << ours.error().what;
    const std::string us = "in use by process " + std::to_string(::getpid());
    EXPECT_EQ(other_process_gets([&](const Result<Fd>& theirs) {
                  return !theirs && theirs.error().code == Code::conflict &&
                         theirs.error().what.contains(us);
              }),
              0);
}

TEST_F(Instance, LeavesRoomForTheNextOne) {
    EXPECT_EQ(other_process_gets([](const Result<Fd>& theirs) { return theirs.has_value(); }), 0);
    EXPECT_TRUE(become_only_instance(directory_));
}

TEST_F(Instance, NamesTheDirectoryThatIsMissing) {
    auto refused = become_only_instance(directory_ + "/missing");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::not_found);
    EXPECT_THAT(refused.error().what, testing::HasSubstr(directory_ + "/missing"));
}

}  // namespace
}  // namespace kubexm::agent
