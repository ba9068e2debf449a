#include "daemon/base/fd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace kubexm {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

TEST(Fd, ClosesItsDescriptor) {
    int number = -1;
    {
        Fd fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
        number = fd.get();
        ASSERT_TRUE(is_open(number));
    }
    EXPECT_FALSE(is_open(number));
}

TEST(Fd, HasOneOwnerAfterAMove) {
    Fd first{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    const int number = first.get();
    Fd second{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    const int replaced = second.get();
    second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that it is empty is the promise
    EXPECT_EQ(second.get(), number);
    EXPECT_TRUE(is_open(number));
    EXPECT_FALSE(is_open(replaced));
}

TEST(Fd, DoesNotCloseAReleasedDescriptor) {
    Fd fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    Fd keeper{fd.release()};
    EXPECT_FALSE(fd);
    EXPECT_TRUE(is_open(keeper.get()));
}

}  // namespace
}  // namespace kubexm
