#include "tests/unit/daemon/executor/host/child.hpp"
#include "tests/unit/daemon/executor/host/scratch.hpp"

namespace kubexm::executor {
namespace {

using ::testing::ElementsAre;

using MakeDirectory = FilesTest;
using RemovePath = FilesTest;

TEST_F(MakeDirectory, MakesOneWithItsMode) {
    EXPECT_THAT(make_directory(root, "/d", own(02751)), IsOk());
    EXPECT_TRUE(fs::is_directory(at("/d")));
    EXPECT_EQ(mode_of(at("/d")), 02751U);
}

TEST_F(MakeDirectory, AnExistingOneGetsTheAttributesAndKeepsItsContent) {
    fs::create_directory(at("/d"));
    put(at("/d/file"), "x");
    EXPECT_THAT(make_directory(root, "/d", own(0700)), IsOk());
    EXPECT_EQ(mode_of(at("/d")), 0700U);
    EXPECT_EQ(content_of(at("/d/file")), "x");
}

TEST_F(MakeDirectory, AnotherObjectIsAConflictAndStays) {
    put(at("/file"), "x");
    fs::create_symlink(scratch.outside(), at("/link"));
    fs::create_symlink("nowhere", at("/dangling"));
    const auto outside = mode_of(scratch.outside());
    for (const char* path : {"/file", "/link", "/dangling"}) {
        EXPECT_THAT(make_directory(root, path, own(0700)), IsError(Code::conflict, path));
    }
    EXPECT_EQ(mode_of(scratch.outside()), outside);
    EXPECT_THAT(names_in(scratch.inside()), ElementsAre("dangling", "file", "link"));
}

TEST_F(RemovePath, RemovesAFileALinkAPipeAndAnEmptyDirectory) {
    put(scratch.outside() / "canary", "alive");
    put(at("/file"), "x");
    fs::create_symlink(scratch.outside() / "canary", at("/link"));
    ASSERT_EQ(::mkfifo(at("/pipe").c_str(), 0600), 0);
    fs::create_directory(at("/d"));
    for (const char* path : {"/file", "/link", "/pipe", "/d"}) {
        EXPECT_THAT(remove_path(root, path), IsOk()) << path;
    }
    EXPECT_TRUE(fs::is_empty(scratch.inside()));
    EXPECT_EQ(content_of(scratch.outside() / "canary"), "alive");
}

TEST_F(RemovePath, AnAbsentPathIsSuccess) {
    EXPECT_THAT(remove_path(root, "/nothing"), IsOk());
    EXPECT_THAT(remove_path(root, "/no/parent"), IsOk());
}

TEST_F(RemovePath, AFullDirectoryIsAConflict) {
    fs::create_directory(at("/d"));
    put(at("/d/file"), "x");
    EXPECT_THAT(remove_path(root, "/d"), IsError(Code::conflict, "/d"));
    EXPECT_EQ(content_of(at("/d/file")), "x");
}

TEST_F(RemovePath, AMountPointIsAConflict) {
    EXPECT_TRUE(passes_in_child([this] {
        ASSERT_TRUE(enter_own_mounts());
        fs::create_directory(at("/d"));
        ASSERT_EQ(::mount("tmpfs", at("/d").c_str(), "tmpfs", 0, nullptr), 0);
        EXPECT_THAT(remove_path(scratch.root(), "/d"), IsError(Code::conflict, "/d"));
        EXPECT_EQ(::umount(at("/d").c_str()), 0);
    }));
}

}  // namespace
}  // namespace kubexm::executor
