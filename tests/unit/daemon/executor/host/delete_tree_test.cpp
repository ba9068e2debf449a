#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "tests/unit/daemon/executor/host/child.hpp"
#include "tests/unit/daemon/executor/host/kernel_faults.hpp"
#include "tests/unit/daemon/executor/host/scratch.hpp"

namespace kubexm::executor {
namespace {

using ::testing::ElementsAre;

using DeleteTree = FilesTest;

void make_deep(const fs::path& top, int depth) {
    fs::create_directory(top);
    Fd here{::open(top.c_str(), O_PATH | O_CLOEXEC)};
    for (int i = 0; i < depth; ++i) {
        ASSERT_EQ(::mkdirat(here.get(), "d", 0700), 0);
        Fd file{::openat(here.get(), "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)};
        here = Fd{::openat(here.get(), "d", O_PATH | O_CLOEXEC)};
    }
}

TEST_F(DeleteTree, RemovesEverythingBelowAndNothingBeside) {
    fs::create_directories(at("/t/a/b/c"));
    fs::create_directories(at("/t/empty"));
    fs::create_directories(at("/t2/stays"));
    put(at("/t/a/file"), "x");
    put(at("/t/a/b/c/file"), "x");
    ASSERT_EQ(::mkfifo(at("/t/a/pipe").c_str(), 0600), 0);
    EXPECT_THAT(delete_tree(root, "/t"), IsOk());
    EXPECT_THAT(names_in(scratch.inside()), ElementsAre("t2"));
    EXPECT_TRUE(fs::exists(at("/t2/stays")));
}

TEST_F(DeleteTree, ReportsTheNumberOfRemovedObjects) {
    fs::create_directories(at("/t/a"));
    put(at("/t/a/file"), "x");
    std::vector<std::uint64_t> reported;
    const auto note = [&](std::uint64_t removed) -> Result<> {
        reported.push_back(removed);
        return {};
    };
    EXPECT_THAT(delete_tree(root, "/t", note), IsOk());
    EXPECT_THAT(reported, ElementsAre(0U, 0U, 0U, 1U, 2U, 3U)) << "checked, then removed";
}

TEST_F(DeleteTree, StopsOnRequestAndIsResumedLater) {
    fs::create_directories(at("/t/a"));
    for (const char* name : {"/t/1", "/t/2", "/t/3", "/t/a/4"}) put(at(name), "x");
    const auto only_two = [](std::uint64_t removed) -> Result<> {
        if (removed < 2) return {};
        return fail(Code::timeout, "enough");
    };
    EXPECT_THAT(delete_tree(root, "/t", only_two), IsError(Code::timeout, "enough"));
    EXPECT_TRUE(fs::exists(at("/t")));
    EXPECT_LT(names_in(at("/t")).size(), 4U);
    EXPECT_THAT(delete_tree(root, "/t"), IsOk());
    EXPECT_FALSE(fs::exists(at("/t")));
}

TEST_F(DeleteTree, CanBeStoppedBeforeTheFirstRemoval) {
    fs::create_directories(at("/t/a"));
    EXPECT_THAT(delete_tree(root, "/t", [](std::uint64_t) { return fail(Code::timeout, "late"); }),
                IsError(Code::timeout, "late"));
    EXPECT_TRUE(fs::exists(at("/t/a")));
}

TEST_F(DeleteTree, RemovesLinksWithoutFollowingThem) {
    put(scratch.outside() / "canary", "alive");
    fs::create_directories(at("/t/a"));
    fs::create_symlink(scratch.outside(), at("/t/directory"));
    fs::create_symlink(scratch.outside() / "canary", at("/t/a/file"));
    fs::create_symlink("..", at("/t/a/loop"));
    fs::create_hard_link(scratch.outside() / "canary", at("/t/a/hard"));
    EXPECT_THAT(delete_tree(root, "/t"), IsOk());
    EXPECT_TRUE(fs::is_empty(scratch.inside()));
    EXPECT_EQ(content_of(scratch.outside() / "canary"), "alive");
}

TEST_F(DeleteTree, AnAbsentTreeIsSuccess) {
    EXPECT_THAT(delete_tree(root, "/t"), IsOk());
    EXPECT_THAT(delete_tree(root, "/no/t"), IsOk());
}

TEST_F(DeleteTree, RefusesOtherObjectsThanDirectories) {
    put(at("/file"), "x");
    fs::create_directory(at("/d"));
    fs::create_symlink("d", at("/link"));
    EXPECT_THAT(delete_tree(root, "/file"), IsError(Code::conflict, "/file is not a directory"));
    EXPECT_THAT(delete_tree(root, "/link"), IsError(Code::denied, "/link is a symbolic link"));
    EXPECT_THAT(names_in(scratch.inside()), ElementsAre("d", "file", "link"));
}

TEST_F(DeleteTree, TakesNamesOfAnyBytes) {
    fs::create_directory(at("/t"));
    for (const char* name : {"new\nline", " ", "-rf", "*", "\xff\xfe", "a\\b", "..."}) {
        fs::create_directory(at("/t") / name);
        put(at("/t") / name / name, "x");
    }
    EXPECT_THAT(delete_tree(root, "/t"), IsOk());
    EXPECT_TRUE(fs::is_empty(scratch.inside()));
}

using DeleteLargeTree = FilesInMemoryTest;

TEST_F(DeleteLargeTree, TakesMoreEntriesThanOneReadOfTheDirectoryGives) {
    in_memory([this](const Root& memory) {
        fs::create_directory(at("/t"));
        for (int i = 0; i < 5000; ++i) put(at("/t/" + std::to_string(i)), "");
        for (int i = 0; i < 500; ++i) fs::create_directories(at("/t/d" + std::to_string(i) + "/x"));
        EXPECT_THAT(delete_tree(memory, "/t"), IsOk());
        EXPECT_TRUE(fs::is_empty(scratch.inside()));
    });
}

TEST_F(DeleteLargeTree, GoesAnyDepthWithFewDescriptors) {
    in_memory([this](const Root& memory) {
        make_deep(at("/t"), 10000);
        const rlimit few{.rlim_cur = 64, .rlim_max = 64};
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
        EXPECT_THAT(delete_tree(memory, "/t"), IsOk());
        EXPECT_TRUE(fs::is_empty(scratch.inside()));
    });
}

TEST_F(DeleteTree, DirectoriesWithoutPermissionsStopOthersThanRootBeforeTheFirstRemoval) {
    fs::create_directories(at("/t/locked/inner"));
    put(at("/t/file"), "x");
    ASSERT_EQ(::chmod(at("/t/locked").c_str(), 0), 0);
    if (is_root()) {
        EXPECT_THAT(delete_tree(root, "/t"), IsOk());
        EXPECT_TRUE(fs::is_empty(scratch.inside()));
        return;
    }
    EXPECT_THAT(delete_tree(root, "/t"), IsError(Code::denied, "/t/locked"));
    EXPECT_EQ(content_of(at("/t/file")), "x");
    ASSERT_EQ(::chmod(at("/t/locked").c_str(), 0700), 0);
}

TEST_F(DeleteTree, AnImmutableObjectIsFoundBeforeTheFirstRemoval) {
    if (!is_root()) GTEST_SKIP() << "only root may make a file immutable";
    fs::create_directories(at("/t/a/b"));
    put(at("/t/a/file"), "x");
    put(at("/t/other"), "x");
    struct Case {
        const char* path;
        int flag;
    };
    for (const auto& [path, flag] :
         {Case{"/", FS_IMMUTABLE_FL}, Case{"/t", FS_IMMUTABLE_FL},
          Case{"/t/a/file", FS_IMMUTABLE_FL}, Case{"/t/a", FS_APPEND_FL}}) {
        const Fd object{::open(at(path).c_str(), O_RDONLY | O_CLOEXEC)};
        int before = 0;
        ASSERT_EQ(::ioctl(object.get(), FS_IOC_GETFLAGS, &before), 0);
        const int immutable = before | flag;
        ASSERT_EQ(::ioctl(object.get(), FS_IOC_SETFLAGS, &immutable), 0);
        EXPECT_THAT(delete_tree(root, "/t"),
                    IsError(Code::denied, std::string(path) + " is immutable or append-only"));
        ASSERT_EQ(::ioctl(object.get(), FS_IOC_SETFLAGS, &before), 0);
        EXPECT_EQ(content_of(at("/t/other")), "x");
        EXPECT_TRUE(fs::exists(at("/t/a/b")));
    }
    EXPECT_THAT(delete_tree(root, "/t"), IsOk());
}

/// A tree with files on both sides of a mount point.
class DeleteTreeWithMounts : public FilesTest {
protected:
    void SetUp() override {
        fs::create_directories(at("/t/a/mounted"));
        fs::create_directories(at("/t/z"));
        put(at("/t/a/file"), "x");
        put(at("/t/z/file"), "x");
        put(scratch.outside() / "canary", "alive");
    }

    void expect_refused(const std::string& mounted) const {
        const Root here = scratch.root();  // opened in the mount namespace of this process
        EXPECT_THAT(delete_tree(here, "/t"), IsError(Code::denied, mounted + " is a mount point"));
        EXPECT_EQ(content_of(at("/t/z/file")), "x");
        EXPECT_EQ(content_of(at("/t/a/file")), "x");
    }
};

TEST_F(DeleteTreeWithMounts, AnotherFileSystemBelowIsNamedAndNothingRemoved) {
    EXPECT_TRUE(passes_in_child([this] {
        ASSERT_TRUE(enter_own_mounts());
        ASSERT_EQ(::mount("tmpfs", at("/t/a/mounted").c_str(), "tmpfs", 0, nullptr), 0);
        expect_refused("/t/a/mounted");
    }));
}

TEST_F(DeleteTreeWithMounts, ABindMountOfTheSameFileSystemIsNamedAndNothingRemoved) {
    EXPECT_TRUE(passes_in_child([this] {
        ASSERT_TRUE(enter_own_mounts());
        const auto mounted = at("/t/a/mounted");
        ASSERT_EQ(::mount(scratch.outside().c_str(), mounted.c_str(), nullptr, MS_BIND, nullptr),
                  0);
        ASSERT_EQ(status_of(mounted).st_dev, status_of(at("/t")).st_dev);
        expect_refused("/t/a/mounted");
        EXPECT_EQ(content_of(scratch.outside() / "canary"), "alive");
    }));
}

TEST_F(DeleteTreeWithMounts, AFileMountedOverAFileIsNamedAndNothingRemoved) {
    EXPECT_TRUE(passes_in_child([this] {
        ASSERT_TRUE(enter_own_mounts());
        const auto canary = scratch.outside() / "canary";
        put(at("/t/a/over"), "");
        ASSERT_EQ(::mount(canary.c_str(), at("/t/a/over").c_str(), nullptr, MS_BIND, nullptr), 0);
        expect_refused("/t/a/over");
    }));
}

TEST_F(DeleteTreeWithMounts, TheTreeItselfMayNotBeAMountPoint) {
    EXPECT_TRUE(passes_in_child([this] {
        ASSERT_TRUE(enter_own_mounts());
        ASSERT_EQ(::mount(at("/t").c_str(), at("/t").c_str(), nullptr, MS_BIND, nullptr), 0);
        expect_refused("/t");
    }));
}

TEST_F(DeleteTreeWithMounts, ATreeInsideAMountIsDeleted) {
    EXPECT_TRUE(passes_in_child([this] {
        ASSERT_TRUE(enter_own_mounts());
        ASSERT_EQ(::mount(at("/t").c_str(), at("/t").c_str(), nullptr, MS_BIND, nullptr), 0);
        EXPECT_THAT(delete_tree(scratch.root(), "/t/a"), IsOk());
        EXPECT_THAT(names_in(at("/t")), ElementsAre("z"));
    }));
}

TEST_F(DeleteTree, ADirectoryThatIsFilledAllTheTimeIsAConflict) {
    fs::create_directories(at("/t/busy"));
    EXPECT_TRUE(passes_in_child([this] {
        ASSERT_TRUE(answer_rmdir(ENOTEMPTY));
        EXPECT_THAT(delete_tree(root, "/t"), IsError(Code::conflict, "/t/busy is filled"));
    }));
    EXPECT_THAT(delete_tree(root, "/t"), IsOk());
    EXPECT_FALSE(fs::exists(at("/t")));
}

}  // namespace
}  // namespace kubexm::executor
