#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iostream>
#include <string>

#include "tests/unit/daemon/executor/host/scratch.hpp"

namespace kubexm::executor {

/// Runs a part of a test, with assertions, in a child process, which may change its limits,
/// identity and mounts. False: an assertion failed.
inline bool passes_in_child(const std::function<void()>& part) {
    std::cout.flush();  // else both processes write the buffer
    const pid_t child = ::fork();
    if (child == 0) {
        [&part]() noexcept { part(); }();  // exceptions must not reach the parent's frames
        std::cout.flush();
        ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status == 0;
}

/// Enters a new namespace, such as CLONE_NEWNS; an unprivileged process enters a user namespace
/// first.
inline bool enter_namespace(int kind) {
    const uid_t uid = ::geteuid();
    const gid_t gid = ::getegid();
    if (::unshare(kind | (uid == 0 ? 0 : CLONE_NEWUSER)) != 0) return false;
    if (uid != 0) {
        std::ofstream("/proc/self/setgroups") << "deny";
        std::ofstream("/proc/self/uid_map") << "0 " << uid << " 1";
        std::ofstream("/proc/self/gid_map") << "0 " << gid << " 1";
    }
    return true;
}

inline bool enter_own_mounts() {
    return enter_namespace(CLONE_NEWNS) &&
           ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

/// For tests with many files: on a tmpfs, to spare the disk.
class FilesInMemoryTest : public FilesTest {
protected:
    /// Runs a part of a test in a child process with the scratch directories, empty, on a tmpfs.
    void in_memory(const std::function<void(const Root&)>& part, const char* options = "") const {
        EXPECT_TRUE(passes_in_child([this, &part, options] {
            ASSERT_TRUE(enter_own_mounts());
            ASSERT_EQ(::mount("tmpfs", scratch.top().c_str(), "tmpfs", 0, options), 0);
            scratch.make_both();
            part(scratch.root());
        }));
    }
};

}  // namespace kubexm::executor
