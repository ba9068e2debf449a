#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "daemon/base/digest.hpp"
#include "daemon/executor/journal/journal.hpp"
#include "daemon/executor/journal/vault.hpp"
#include "examples.hpp"
#include "scratch.hpp"

// A tmpfs that is full or read-only, mounted in a child process.

namespace kubexm::executor {
namespace {

using testing::HasSubstr;

constexpr int kNotAllowed = 77;

/// A private mount namespace, also without root.
bool enter_mount_namespace() {
    const uid_t uid = ::geteuid();
    const gid_t gid = ::getegid();
    if (::unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) return false;
    if (uid != 0) {
        write_bytes("/proc/self/setgroups", "deny");
        write_bytes("/proc/self/uid_map", "0 " + std::to_string(uid) + " 1");
        write_bytes("/proc/self/gid_map", "0 " + std::to_string(gid) + " 1");
    }
    return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

/// Runs `work` in a child that has a small file system mounted on the directory.
void on_a_small_disk(const Scratch& scratch, const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
        if (!enter_mount_namespace() ||
            ::mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=1m") != 0) {
            ::_exit(kNotAllowed);
        }
        work();
        ::_exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed) {
        GTEST_SKIP() << "not permitted to mount";
    }
    EXPECT_EQ(status, 0) << "see the failures of the child above";
}

void fill_up(const std::string& path) {
    const Fd fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
    const std::string zeros(4096, '\0');
    while (::write(fd.get(), zeros.data(), zeros.size()) > 0) continue;
}

TEST(RealDisk, WhenFullTheOldStateStays) {
    const Scratch scratch;
    on_a_small_disk(scratch, [&] {
        auto journal = Journal::open(scratch.path(), {});
        auto vault = Vault::open(scratch.file("vault"));
        ASSERT_TRUE(journal && vault);
        ASSERT_OK(journal->audit(0, 1, "event", "before"));
        fill_up(scratch.file("filler"));
        const std::string before = content_of(*journal);
        PlanRecord plan = plan_named("p1");
        plan.document = std::string(100000, 'd');

        const auto refused = journal->begin(plan, 1);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Code::exhausted) << refused.error().what;
        EXPECT_THAT(refused.error().what, HasSubstr(scratch.file("journal.db")));
        EXPECT_EQ(content_of(*journal), before);
        const auto not_stored = vault->store(plan.document, sha256(plan.document));
        ASSERT_FALSE(not_stored);
        EXPECT_EQ(not_stored.error().code, Code::exhausted) << not_stored.error().what;
        EXPECT_TRUE(std::filesystem::is_empty(scratch.file("vault")));

        journal = fail(Code::internal, "closed");
        journal = Journal::open(scratch.path(), {});
        ASSERT_TRUE(journal) << journal.error().what;
        EXPECT_EQ(content_of(*journal), before);

        std::filesystem::remove(scratch.file("filler"));
        EXPECT_TRUE(journal->begin(plan, 1));
        EXPECT_TRUE(journal->verify());
        EXPECT_TRUE(vault->store(plan.document, sha256(plan.document)));
    });
}

TEST(RealDisk, WhenReadOnlyOpenIsDenied) {
    const Scratch scratch;
    on_a_small_disk(scratch, [&] {
        {
            ASSERT_TRUE(Journal::open(scratch.path(), {}));
        }
        auto vault = Vault::open(scratch.file("vault"));
        const auto remount = [&](unsigned long flags) {
            return ::mount(nullptr, scratch.path().c_str(), nullptr, MS_REMOUNT | flags, nullptr);
        };
        ASSERT_EQ(remount(MS_RDONLY), 0);
        const auto journal = Journal::open(scratch.path(), {});
        ASSERT_FALSE(journal);
        EXPECT_EQ(journal.error().code, Code::denied) << journal.error().what;
        EXPECT_THAT(journal.error().what, HasSubstr(scratch.path()));
        EXPECT_EQ(vault->store("x", sha256("x")).error().code, Code::denied);
        ASSERT_EQ(remount(0), 0);
        EXPECT_TRUE(Journal::open(scratch.path(), {}));
        EXPECT_TRUE(vault->store("x", sha256("x")));
    });
}

}  // namespace
}  // namespace kubexm::executor
