// The tests of files also run with KUBEXM_TEST_WITHOUT_OPENAT2 in the environment, as on a kernel
// that lacks the call or in a container that forbids it.

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>

#include "tests/unit/daemon/executor/host/kernel_faults.hpp"

namespace kubexm::executor {
namespace {

bool without_openat2() {
    return std::getenv("KUBEXM_TEST_WITHOUT_OPENAT2") != nullptr;  // NOLINT(concurrency-mt-unsafe)
}

class Kernel : public ::testing::Environment {
public:
    void SetUp() override {
        if (!without_openat2()) return;
        ASSERT_TRUE(answer_system_call(SYS_openat2, ENOSYS));
    }
};

const auto* const kKernel = ::testing::AddGlobalTestEnvironment(new Kernel);

TEST(OldKernel, LacksOpenat2OnRequest) {
    ::syscall(SYS_openat2, -1, nullptr, nullptr, 0);
    EXPECT_EQ(errno, without_openat2() ? ENOSYS : EINVAL);
}

}  // namespace
}  // namespace kubexm::executor
