#include "daemon/base/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace kubexm {
namespace {

TEST(Error, HasItsContextInFront) {
    auto inner = from_errno("open", "/etc/kubexm/kubexmd.yaml", EACCES);
    auto outer = during("reading the configuration", inner.error());
    EXPECT_EQ(outer.error().what,
              "reading the configuration: open /etc/kubexm/kubexmd.yaml: Permission denied");
    EXPECT_EQ(outer.error().code, Code::denied);
}

TEST(Error, HasACodeForEachErrno) {
    EXPECT_EQ(from_errno("write", "x", ENOSPC).error().code, Code::exhausted);
    EXPECT_EQ(from_errno("write", "x", EDQUOT).error().code, Code::exhausted);
    EXPECT_EQ(from_errno("write", "x", EFBIG).error().code, Code::exhausted);
    EXPECT_EQ(from_errno("rmdir", "x", ENOTEMPTY).error().code, Code::conflict);
    EXPECT_EQ(from_errno("setxattr", "x", EOPNOTSUPP).error().code, Code::denied);
    EXPECT_EQ(from_errno("open", "x", ENOENT).error().code, Code::not_found);
    EXPECT_EQ(from_errno("open", "x", ELOOP).error().code, Code::denied);
    EXPECT_EQ(from_errno("write", "x", EIO).error().code, Code::unavailable);
}

TEST(Error, UsesTheCurrentErrno) {
    errno = ENOSPC;
    EXPECT_EQ(from_errno("write", "/var/lib/x").error().code, Code::exhausted);
}

}  // namespace
}  // namespace kubexm
