// Resolution of paths, through the public functions.

#include <fcntl.h>

#include "tests/unit/daemon/executor/host/scratch.hpp"

namespace kubexm::executor {
namespace {

using Paths = FilesTest;

TEST_F(Paths, MustBeAbsoluteAndPlain) {
    const std::string nul("/a\0b", 4);
    for (const std::string& path :
         {std::string(), std::string("/"), std::string("a"), std::string("//a"), std::string("/a/"),
          std::string("/a//b"), std::string("/./a"), std::string("/a/.."),
          std::string("/../outside/a"), nul}) {
        EXPECT_THAT(inspect(root, path), IsError(Code::invalid, "path")) << path;
        EXPECT_THAT(replace_file(root, path, "x", own(0600)), IsError(Code::invalid, "path"));
        EXPECT_THAT(remove_path(root, path), IsError(Code::invalid, "path")) << path;
        EXPECT_THAT(delete_tree(root, path), IsError(Code::invalid, "path")) << path;
    }
}

TEST_F(Paths, MayHaveDotsInNames) {
    EXPECT_THAT(make_directory(root, "/...", own(0755)), IsOk());
    EXPECT_THAT(replace_file(root, "/.../..a", "x", own(0600)), IsOk());
    EXPECT_EQ(content_of(at("/.../..a")), "x");
}

TEST_F(Paths, ReachAFileInTheRootItselfAndDeepBelow) {
    fs::create_directories(at("/a/b/c"));
    put(at("/top"), "top");
    put(at("/a/b/c/deep"), "deep");
    EXPECT_EQ(read_file(root, "/top", 10).value(), "top");
    EXPECT_EQ(read_file(root, "/a/b/c/deep", 10).value(), "deep");
}

TEST_F(Paths, ALinkOnTheWayIsRefusedAndNamed) {
    fs::create_directories(at("/a/real/b"));
    fs::create_symlink("real", at("/a/link"));               // to a neighbour
    fs::create_symlink(scratch.outside(), at("/a/escape"));  // absolute
    fs::create_symlink("../../outside", at("/a/up"));        // relative
    fs::create_symlink("/proc/self/root", at("/a/magic"));
    for (const char* name : {"link", "escape", "up", "magic"}) {
        const std::string link = std::string("/a/") + name;
        for (const std::string& path : {link + "/x", link + "/b/x"}) {
            EXPECT_THAT(inspect(root, path), IsError(Code::denied, link + " is a symbolic link"));
            EXPECT_THAT(replace_file(root, path, "x", own(0600)), IsError(Code::denied, link));
            EXPECT_THAT(replace_symlink(root, path, "x", own(0)), IsError(Code::denied, link));
            EXPECT_THAT(make_directory(root, path, own(0700)), IsError(Code::denied, link));
            EXPECT_THAT(set_attributes(root, path, own(0600)), IsError(Code::denied, link));
            EXPECT_THAT(remove_path(root, path), IsError(Code::denied, link));
            EXPECT_THAT(delete_tree(root, path), IsError(Code::denied, link));
            EXPECT_THAT(remove_leftovers(root, path), IsError(Code::denied, link));
        }
    }
    EXPECT_TRUE(fs::is_empty(scratch.outside()));
    EXPECT_TRUE(fs::is_empty(at("/a/real/b")));
}

TEST_F(Paths, AMissingParentOrOneThatIsNoDirectoryIsNamed) {
    put(at("/file"), "x");
    EXPECT_THAT(inspect(root, "/no/such/x"), IsError(Code::not_found, "/no:"));
    EXPECT_THAT(inspect(root, "/file/x"), IsError(Code::not_found, "/file: Not a directory"));
    EXPECT_THAT(replace_file(root, "/no/x", "x", own(0600)), IsError(Code::not_found, "/no:"));
    EXPECT_THAT(make_directory(root, "/no/x", own(0700)), IsError(Code::not_found, "/no:"));
}

TEST_F(Paths, APipeAsAParentDoesNotBlock) {
    ASSERT_EQ(::mkfifo(at("/pipe").c_str(), 0600), 0);
    EXPECT_THAT(inspect(root, "/pipe/x"), IsError(Code::not_found, "/pipe: Not a directory"));
}

TEST_F(Paths, AnErrorShowsAHostileNameOnOneLine) {
    EXPECT_THAT(inspect(root, "/a\nkubexm: all is well\x1b[2J/x"),
                IsError(Code::not_found, R"(/a\nkubexm: all is well\x1b[2J)"));
}

TEST_F(Paths, AnErrorShowsBothEndsOfALongPath) {
    std::string path = "/begin";
    for (int i = 0; i < 5000; ++i) path += "/x";
    const auto state = inspect(root, path + "/end/..");
    EXPECT_THAT(state, IsError(Code::invalid, "/begin/x/x"));
    EXPECT_THAT(state, IsError(Code::invalid, "/end/..: expected"));
    EXPECT_LT(state.error().what.size(), 1200U);
}

TEST_F(Paths, MayBeLongerThanTheKernelAccepts) {
    std::string path;
    Fd directory{::open(scratch.inside().c_str(), O_PATH)};
    for (int i = 0; i < 30; ++i) {
        const std::string name(200, 'n');
        ASSERT_EQ(::mkdirat(directory.get(), name.c_str(), 0700), 0);
        directory = Fd{::openat(directory.get(), name.c_str(), O_PATH)};
        path += "/" + name;
    }
    EXPECT_THAT(replace_file(root, path + "/x", "deep", own(0600)), IsOk());
    EXPECT_EQ(read_file(root, path + "/x", 10).value(), "deep");
    EXPECT_THAT(delete_tree(root, path.substr(0, 201)), IsOk());
}

TEST_F(Paths, TheRootMayBeReachedThroughALink) {
    fs::create_symlink(scratch.inside(), scratch.outside() / "link");
    put(at("/x"), "x");
    const auto linked = Root::open((scratch.outside() / "link").string());
    ASSERT_THAT(linked, IsOk());
    EXPECT_EQ(read_file(*linked, "/x", 1).value(), "x");
}

TEST_F(Paths, ARootMustBeADirectory) {
    put(at("/x"), "x");
    EXPECT_THAT(Root::open(at("/x").string()), IsError(Code::not_found, "/x"));
    EXPECT_THAT(Root::open(at("/no").string()), IsError(Code::not_found, "/no"));
}

}  // namespace
}  // namespace kubexm::executor
