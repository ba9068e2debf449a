#include <fcntl.h>

#include <csignal>

#include "daemon/base/digest.hpp"
#include "tests/unit/daemon/executor/host/scratch.hpp"

namespace kubexm::executor {
namespace {

using Inspect = FilesTest;
using ReadFile = FilesTest;
using ListDirectory = FilesTest;

TEST_F(Inspect, AnAbsentObjectIsAState) {
    EXPECT_EQ(inspect(root, "/nothing").value(), PathState{});
}

TEST_F(Inspect, ReportsAllPropertiesOfAFile) {
    put(at("/file"), "abc");
    ASSERT_EQ(::chmod(at("/file").c_str(), 04640), 0);
    set_xattr(at("/file"), "user.color", "blue");
    set_xattr(at("/file"), "user.empty", "");
    fs::create_hard_link(at("/file"), at("/other-name"));
    const PathState expected{
        .kind = PathKind::file,
        .digest = sha256("abc"),
        .mode = 04640,
        .uid = ::geteuid(),
        .gid = ::getegid(),
        .xattrs = {{"user.color", "blue"}, {"user.empty", ""}},
        .links = 2,
    };
    auto state = inspect_content(root, "/file", ample()).value();
    state.xattrs.erase("security.selinux");  // on some machines
    EXPECT_EQ(state, expected);
}

TEST_F(Inspect, ReadsContentOfManyChunks) {
    const std::string content(1000000, 'x');
    put(at("/file"), content);
    EXPECT_EQ(inspect_content(root, "/file", ample())->digest, sha256(content));
}

TEST_F(Inspect, ReadsContentOnlyOnRequest) {
    put(at("/file"), "abc");
    EXPECT_EQ(inspect(root, "/file")->digest, "");
    fs::resize_file(at("/file"), std::uint64_t{1} << 42U);  // would take hours
    EXPECT_EQ(inspect(root, "/file")->kind, PathKind::file);
    EXPECT_EQ(inspect_content(root, "/file", ample())->digest, "");
}

TEST_F(Inspect, StopsReadingAtTheDeadline) {
    put(at("/file"), "abc");
    const ReadLimit late{.bytes = 100, .deadline = std::chrono::steady_clock::now()};
    EXPECT_THAT(inspect_content(root, "/file", late),
                IsError(Code::timeout, "/file: the deadline"));
}

TEST_F(Inspect, DistinguishesALinkFromItsTarget) {
    put(at("/file"), "abc");
    fs::create_symlink("file", at("/link"));
    fs::create_symlink("nowhere", at("/dangling"));
    const auto link = inspect(root, "/link");
    EXPECT_EQ(link->kind, PathKind::symlink);
    EXPECT_EQ(link->target, "file");
    EXPECT_EQ(link->digest, "");
    EXPECT_EQ(inspect(root, "/dangling")->target, "nowhere");
}

TEST_F(Inspect, ReadsTheLongestTarget) {
    const std::string target(4095, 't');
    fs::create_symlink(target, at("/link"));
    EXPECT_EQ(inspect(root, "/link")->target, target);
}

TEST_F(Inspect, ReportsADirectory) {
    fs::create_directory(at("/d"));
    ASSERT_EQ(::chmod(at("/d").c_str(), 01777), 0);
    set_xattr(at("/d"), "user.color", "red");
    const auto state = inspect(root, "/d");
    EXPECT_EQ(state->kind, PathKind::directory);
    EXPECT_EQ(state->mode, 01777U);
    EXPECT_EQ(state->xattrs.at("user.color"), "red");
}

TEST_F(Inspect, NeitherOpensNorWaitsForPipesAndSockets) {
    ASSERT_EQ(::mkfifo(at("/pipe").c_str(), 0640), 0);
    const Fd socket = listen_at(at("/socket"));
    EXPECT_EQ(inspect(root, "/pipe")->kind, PathKind::other);
    EXPECT_EQ(inspect(root, "/pipe")->mode, 0640U);
    EXPECT_EQ(inspect(root, "/socket")->kind, PathKind::other);
}

TEST_F(Inspect, DoesNotWaitForTheHolderOfALease) {
    put(at("/file"), "abc");
    const Fd holder{::open(at("/file").c_str(), O_RDWR | O_CLOEXEC)};
    ASSERT_NE(::signal(SIGIO, SIG_IGN), SIG_ERR);  // NOLINT(concurrency-mt-unsafe): to the holder
    ASSERT_EQ(::fcntl(holder.get(), F_SETLEASE, F_WRLCK), 0);
    EXPECT_THAT(inspect_content(root, "/file", ample()), IsError(Code::unavailable, "/file"));
    EXPECT_THAT(inspect(root, "/file"), IsOk());
}

TEST_F(Inspect, ReadsFilesThatReportNoSize) {
    const Root host = Root::open("/").value();
    const std::string path = "/proc/sys/kernel/ostype";
    EXPECT_EQ(inspect_content(host, path, ample())->digest, sha256("Linux\n"));
    EXPECT_EQ(inspect_content(host, path, {5, ample().deadline})->digest, "");
}

TEST_F(Inspect, LeavesNoDescriptorOpen) {
    put(at("/file"), "abc");
    const auto before = names_in("/proc/self/fd").size();
    for (int i = 0; i < 10; ++i) {
        EXPECT_THAT(inspect_content(root, "/file", ample()), IsOk());
        EXPECT_FALSE(inspect(root, "/file/x"));
    }
    EXPECT_EQ(names_in("/proc/self/fd").size(), before);
}

TEST_F(ReadFile, ReturnsTheContentUpToTheLimit) {
    const std::string content("a\0b", 3);
    put(at("/file"), content);
    EXPECT_EQ(read_file(root, "/file", 3).value(), content);
    EXPECT_THAT(read_file(root, "/file", 2), IsError(Code::exhausted, "/file"));
    EXPECT_THAT(read_file(root, "/file", 0), IsError(Code::exhausted, "/file"));
}

TEST_F(ReadFile, AnEmptyFileFitsIntoNoBytes) {
    put(at("/file"), "");
    EXPECT_EQ(read_file(root, "/file", 0).value(), "");
}

TEST_F(ReadFile, ReadsOnlyRegularFiles) {
    put(at("/file"), "abc");
    fs::create_symlink("file", at("/link"));
    fs::create_directory(at("/d"));
    ASSERT_EQ(::mkfifo(at("/pipe").c_str(), 0600), 0);
    EXPECT_THAT(read_file(root, "/none", 9), IsError(Code::not_found, "/none"));
    EXPECT_THAT(read_file(root, "/link", 9), IsError(Code::denied, "/link is a symbolic link"));
    EXPECT_THAT(read_file(root, "/d", 9), IsError(Code::conflict, "/d"));
    EXPECT_THAT(read_file(root, "/pipe", 9), IsError(Code::conflict, "/pipe"));
}

TEST_F(ListDirectory, ReturnsSortedNamesUpToTheLimit) {
    fs::create_directories(at("/d/b"));
    put(at("/d/a"), "");
    fs::create_symlink("nowhere", at("/d/c"));
    EXPECT_EQ(list_directory(root, "/d", 3).value(), (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_THAT(list_directory(root, "/d", 2), IsError(Code::exhausted, "/d"));
}

TEST_F(ListDirectory, ListsOnlyDirectories) {
    fs::create_directory(at("/d"));
    fs::create_symlink("d", at("/link"));
    put(at("/file"), "");
    ASSERT_EQ(::mkfifo(at("/pipe").c_str(), 0600), 0);
    EXPECT_THAT(list_directory(root, "/none", 9), IsError(Code::not_found, "/none"));
    EXPECT_THAT(list_directory(root, "/link", 9), IsError(Code::denied, "/link"));
    EXPECT_THAT(list_directory(root, "/file", 9),
                IsError(Code::not_found, "/file: Not a directory"));
    EXPECT_THAT(list_directory(root, "/pipe", 9),
                IsError(Code::not_found, "/pipe: Not a directory"));
}

}  // namespace
}  // namespace kubexm::executor
