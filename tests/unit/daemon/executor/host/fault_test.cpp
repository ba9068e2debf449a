// The state after errors of the kernel and the disk.

#include <sys/resource.h>

#include <csignal>

#include "daemon/base/digest.hpp"
#include "tests/unit/daemon/executor/host/child.hpp"
#include "tests/unit/daemon/executor/host/kernel_faults.hpp"
#include "tests/unit/daemon/executor/host/scratch.hpp"

namespace kubexm::executor {
namespace {

using ::testing::ElementsAre;

using Faults = FilesTest;

struct Fault {
    const char* call;
    long number;
    int error;
    Code code;
};

/// Attributes that differ from those of a new file as far as any user may set them.
Attributes coloured() {
    Attributes attributes = own(0644);
    attributes.xattrs = {{"user.color", "blue"}};
    return attributes;
}

TEST_F(Faults, AReplacementThatFailsAnywhereLeavesTheOldFileAndNothingElse) {
    put(at("/f"), "old");
    for (const auto& fault : {
             Fault{"write", SYS_write, ENOSPC, Code::exhausted},
             Fault{"write", SYS_write, EDQUOT, Code::exhausted},
             Fault{"write", SYS_write, EIO, Code::unavailable},
             Fault{"fstat", SYS_newfstatat, EIO, Code::unavailable},
             Fault{"listxattr", SYS_listxattr, EIO, Code::unavailable},
             Fault{"setxattr", SYS_setxattr, ENOSPC, Code::exhausted},
             Fault{"chmod", SYS_fchmodat, EROFS, Code::denied},
             Fault{"fsync", SYS_fsync, EIO, Code::unavailable},
             Fault{"renameat", SYS_renameat, ENOSPC, Code::exhausted},
         }) {
        EXPECT_TRUE(passes_in_child([this, &fault] {
            ASSERT_TRUE(answer_system_call(fault.number, fault.error));
            EXPECT_THAT(replace_file(root, "/f", "new", coloured()), IsError(fault.code, "/f"));
        })) << fault.call
            << ": " << std::generic_category().message(fault.error);
        EXPECT_EQ(content_of(at("/f")), "old") << fault.call;
        EXPECT_THAT(names_in(scratch.inside()), ElementsAre("f")) << fault.call;
    }
    EXPECT_THAT(replace_file(root, "/f", "new", coloured()), IsOk()) << "without the fault";
}

TEST_F(Faults, ALinkThatCannotBeMadeLeavesTheOldOneAndNothingElse) {
    fs::create_symlink("old", at("/f"));
    for (const auto& fault : {
             Fault{"symlinkat", SYS_symlinkat, ENOSPC, Code::exhausted},
             Fault{"renameat", SYS_renameat, EIO, Code::unavailable},
         }) {
        EXPECT_TRUE(passes_in_child([this, &fault] {
            ASSERT_TRUE(answer_system_call(fault.number, fault.error));
            EXPECT_THAT(replace_symlink(root, "/f", "new", own(0)), IsError(fault.code, "/f"));
        })) << fault.call;
        EXPECT_EQ(fs::read_symlink(at("/f")), "old") << fault.call;
        EXPECT_THAT(names_in(scratch.inside()), ElementsAre("f")) << fault.call;
    }
}

TEST_F(Faults, NoChangeSucceedsWithoutASync) {
    fs::create_directories(at("/tree/below"));
    put(at("/file"), "x");
    EXPECT_TRUE(passes_in_child([this] {
        ASSERT_TRUE(answer_system_call(SYS_fsync, EIO));
        EXPECT_THAT(make_directory(root, "/new", own(0700)), IsError(Code::unavailable, "/new"));
        EXPECT_THAT(set_attributes(root, "/file", own(0700)), IsError(Code::unavailable, "/file"));
        EXPECT_THAT(remove_path(root, "/file"), IsError(Code::unavailable, "/file"));
        EXPECT_THAT(remove_path(root, "/absent"), IsError(Code::unavailable, "/absent"));
        EXPECT_THAT(delete_tree(root, "/tree"), IsError(Code::unavailable, "/tree"));
        EXPECT_THAT(delete_tree(root, "/absent"), IsError(Code::unavailable, "/absent"));
        EXPECT_THAT(remove_leftovers(root, "/file"), IsError(Code::unavailable, "/file"));
        EXPECT_THAT(replace_symlink(root, "/link", "x", own(0)),
                    IsError(Code::unavailable, "/link"));
    }));
    EXPECT_THAT(make_directory(root, "/new", own(0700)), IsOk());
    EXPECT_THAT(replace_symlink(root, "/link", "x", own(0)), IsOk());
    EXPECT_THAT(names_in(scratch.inside()), ElementsAre("link", "new"));
}

TEST_F(Faults, AnObjectOfATreeThatCannotBeRemovedIsNamed) {
    fs::create_directories(at("/t/a"));
    put(at("/t/a/file"), "x");
    EXPECT_TRUE(passes_in_child([this] {
        ASSERT_TRUE(answer_rmdir(EIO));
        EXPECT_THAT(delete_tree(root, "/t"), IsError(Code::unavailable, "/t/a: "));
    }));
    EXPECT_TRUE(passes_in_child([this] {
        ASSERT_TRUE(answer_system_call(SYS_unlinkat, EIO));
        EXPECT_THAT(delete_tree(root, "/t"), IsError(Code::unavailable, "/t: "));
        EXPECT_THAT(remove_path(root, "/t/a"), IsError(Code::unavailable, "/t/a: "));
    }));
}

TEST_F(Faults, AFileThatCannotBeReadIsNamed) {
    put(at("/f"), "x");
    EXPECT_TRUE(passes_in_child([this] {
        ASSERT_TRUE(answer_system_call(SYS_read, EIO));
        EXPECT_THAT(inspect_content(root, "/f", ample()), IsError(Code::unavailable, "read /f"));
        EXPECT_THAT(read_file(root, "/f", 9), IsError(Code::unavailable, "read /f"));
    }));
}

TEST_F(Faults, AWriteThatStopsHalfWayLeavesTheOldFile) {
    put(at("/f"), "old");
    EXPECT_TRUE(passes_in_child([this] {
        ASSERT_NE(::signal(SIGXFSZ, SIG_IGN), SIG_ERR);  // NOLINT(concurrency-mt-unsafe)
        const rlimit five{.rlim_cur = 5, .rlim_max = 5};
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &five), 0);
        EXPECT_THAT(replace_file(root, "/f", "longer than five", own(0600)),
                    IsError(Code::exhausted, "write /f"));
        EXPECT_THAT(replace_file(root, "/g", "five.", own(0600)), IsOk());
    }));
    EXPECT_EQ(content_of(at("/f")), "old");
    EXPECT_THAT(names_in(scratch.inside()), ElementsAre("f", "g"));
}

/// A real file system that the test can fill.
class SmallDisk : public FilesInMemoryTest {
protected:
    /// Leaves this many bytes free.
    void fill(std::uintmax_t free) const {
        fs::remove(at("/filler"));
        const auto space = fs::space(scratch.inside()).available;
        put(at("/filler"), std::string(space - free, 'x'));
        ASSERT_EQ(fs::space(scratch.inside()).available, free);
    }
};

TEST_F(SmallDisk, AFullOneKeepsTheOldFileUntilThereIsSpace) {
    in_memory(
        [this](const Root& disk) {
            const std::string old_content(10000, 'o');
            const std::string new_content(40000, 'n');
            ASSERT_THAT(replace_file(disk, "/f", old_content, own(0640)), IsOk());
            for (std::uintmax_t free = 0; free < 40000; free += 4096) {
                fill(free);
                EXPECT_THAT(replace_file(disk, "/f", new_content, own(0600)),
                            IsError(Code::exhausted, "write /f: No space left"));
                EXPECT_EQ(content_of(at("/f")), old_content);
                EXPECT_EQ(mode_of(at("/f")), 0640U);
                EXPECT_THAT(names_in(scratch.inside()), ElementsAre("f", "filler"));
                EXPECT_EQ(fs::space(scratch.inside()).available, free);
            }
            fs::remove(at("/filler"));
            EXPECT_THAT(replace_file(disk, "/f", new_content, own(0600)), IsOk());
            EXPECT_EQ(content_of(at("/f")), new_content);
        },
        "size=1m");
}

TEST_F(SmallDisk, OneWithoutInodesKeepsTheOldFile) {
    in_memory(
        [this](const Root& disk) {
            ASSERT_THAT(replace_file(disk, "/f", "old", own(0600)), IsOk());
            fs::create_directory(at("/last"));
            EXPECT_THAT(replace_file(disk, "/f", "new", own(0600)),
                        IsError(Code::exhausted, "create /f: No space left"));
            EXPECT_THAT(replace_symlink(disk, "/f", "new", own(0)), IsError(Code::exhausted, "/f"));
            EXPECT_THAT(make_directory(disk, "/d", own(0700)), IsError(Code::exhausted, "/d"));
            EXPECT_EQ(content_of(at("/f")), "old");
            EXPECT_THAT(names_in(scratch.inside()), ElementsAre("f", "last"));
        },
        "nr_inodes=5");
}

TEST_F(SmallDisk, AReadOnlyOneIsDeniedAndNamed) {
    in_memory([this](const Root& disk) {
        ASSERT_THAT(replace_file(disk, "/f", "old", own(0600)), IsOk());
        ASSERT_THAT(make_directory(disk, "/t", own(0700)), IsOk());
        ASSERT_EQ(::mount(nullptr, scratch.top().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr),
                  0);
        const auto denied = [](const char* path) { return IsError(Code::denied, path); };
        EXPECT_THAT(replace_file(disk, "/f", "new", own(0600)), denied("/f: Read-only"));
        EXPECT_THAT(replace_symlink(disk, "/f", "new", own(0)), denied("/f: Read-only"));
        EXPECT_THAT(make_directory(disk, "/d", own(0700)), denied("/d: Read-only"));
        EXPECT_THAT(set_attributes(disk, "/f", own(0640)), denied("Read-only"));
        EXPECT_THAT(remove_path(disk, "/f"), denied("/f: Read-only"));
        EXPECT_THAT(delete_tree(disk, "/t"), denied("/t: Read-only"));
        EXPECT_EQ(content_of(at("/f")), "old");
    });
}

}  // namespace
}  // namespace kubexm::executor
