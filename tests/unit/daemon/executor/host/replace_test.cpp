#include <fcntl.h>
#include <sys/mman.h>

#include "daemon/base/digest.hpp"
#include "tests/unit/daemon/executor/host/scratch.hpp"

namespace kubexm::executor {
namespace {

using ::testing::ElementsAre;

using ReplaceFile = FilesTest;
using ReplaceFileFrom = FilesTest;
using ReplaceSymlink = FilesTest;
using Leftovers = FilesTest;

/// The name of the temporary file of /f. It must not change: another version may have left it.
std::string temporary_of_f() { return ".kubexm-" + sha256("f").substr(0, 32); }

Fd descriptor_with(std::string_view content) {
    Fd fd{::memfd_create("content", MFD_CLOEXEC)};
    EXPECT_EQ(::pwrite(fd.get(), content.data(), content.size(), 0),
              static_cast<ssize_t>(content.size()));
    return fd;
}

TEST_F(ReplaceFile, MakesAFileThatWasNotThere) {
    EXPECT_THAT(replace_file(root, "/f", "new", own(0640)), IsOk());
    EXPECT_EQ(content_of(at("/f")), "new");
    EXPECT_EQ(mode_of(at("/f")), 0640U);
    EXPECT_THAT(names_in(scratch.inside()), ElementsAre("f"));
}

TEST_F(ReplaceFile, TheModeDoesNotDependOnTheUmask) {
    const mode_t before = ::umask(0077);
    EXPECT_THAT(replace_file(root, "/f", "new", own(0666)), IsOk());
    ::umask(before);
    EXPECT_EQ(mode_of(at("/f")), 0666U);
}

TEST_F(ReplaceFile, TheOldFileStaysCompleteForItsReaders) {
    put(at("/f"), "old");
    const Fd reader{::open(at("/f").c_str(), O_RDONLY)};
    EXPECT_THAT(replace_file(root, "/f", "new and longer", own(0600)), IsOk());
    char seen[16] = {};
    EXPECT_EQ(::read(reader.get(), seen, sizeof(seen)), 3);
    EXPECT_STREQ(seen, "old");
    EXPECT_EQ(content_of(at("/f")), "new and longer");
}

TEST_F(ReplaceFile, NothingOfTheOldFileRemains) {
    put(at("/f"), "old");
    ASSERT_EQ(::chmod(at("/f").c_str(), 04777), 0);
    set_xattr(at("/f"), "user.color", "blue");
    EXPECT_THAT(replace_file(root, "/f", "", own(0600)), IsOk());
    EXPECT_EQ(content_of(at("/f")), "");
    EXPECT_EQ(mode_of(at("/f")), 0600U);
    EXPECT_EQ(xattr_of(at("/f"), "user.color"), "");
}

TEST_F(ReplaceFile, ALinkIsItselfReplacedAndNotFollowed) {
    put(scratch.outside() / "canary", "alive");
    fs::create_symlink(scratch.outside() / "canary", at("/f"));
    EXPECT_THAT(replace_file(root, "/f", "new", own(0600)), IsOk());
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(at("/f"))));
    EXPECT_EQ(content_of(scratch.outside() / "canary"), "alive");
}

TEST_F(ReplaceFile, RefusesOtherKindsOfObjects) {
    fs::create_directory(at("/d"));
    ASSERT_EQ(::mkfifo(at("/pipe").c_str(), 0600), 0);
    put(at("/twin"), "old");
    fs::create_hard_link(at("/twin"), at("/twin2"));
    EXPECT_THAT(replace_file(root, "/d", "x", own(0600)),
                IsError(Code::conflict, "/d is a directory"));
    EXPECT_THAT(replace_file(root, "/pipe", "x", own(0600)), IsError(Code::conflict, "/pipe"));
    EXPECT_THAT(replace_file(root, "/twin", "x", own(0600)),
                IsError(Code::conflict, "/twin has 2 hard links"));
    EXPECT_EQ(content_of(at("/twin")), "old");
    EXPECT_THAT(names_in(scratch.inside()), ElementsAre("d", "pipe", "twin", "twin2"));
}

TEST_F(ReplaceFile, WorksForTheLongestName) {
    const std::string path = "/" + std::string(255, 'n');
    EXPECT_THAT(replace_file(root, path, "x", own(0600)), IsOk());
    EXPECT_THAT(replace_file(root, path + "n", "x", own(0600)), IsError(Code::invalid, "too long"));
    EXPECT_EQ(names_in(scratch.inside()).size(), 1U);
}

TEST_F(ReplaceFile, DoesNotFollowALinkInPlaceOfTheTemporary) {
    put(scratch.outside() / "canary", "alive");
    fs::create_symlink(scratch.outside() / "canary", at("/" + temporary_of_f()));
    EXPECT_THAT(replace_file(root, "/f", "new", own(0600)), IsOk());
    EXPECT_EQ(content_of(at("/f")), "new");
    EXPECT_EQ(content_of(scratch.outside() / "canary"), "alive");
    EXPECT_THAT(names_in(scratch.inside()), ElementsAre("f"));
}

TEST_F(ReplaceFile, NamesADirectoryInPlaceOfTheTemporary) {
    fs::create_directory(at("/" + temporary_of_f()));
    EXPECT_THAT(replace_file(root, "/f", "new", own(0600)),
                IsError(Code::conflict, temporary_of_f()));
    EXPECT_FALSE(fs::exists(at("/f")));
}

TEST_F(ReplaceFileFrom, WritesTheContentOfTheDescriptor) {
    const std::string content(1000000, 'x');
    const Fd source = descriptor_with(content);
    EXPECT_THAT(replace_file_from(root, "/f", source.get(), sha256(content),
                                  {content.size(), ample().deadline}, own(0644)),
                IsOk());
    EXPECT_EQ(content_of(at("/f")), content);
    EXPECT_EQ(mode_of(at("/f")), 0644U);
}

TEST_F(ReplaceFileFrom, OtherContentThanExpectedChangesNothing) {
    put(at("/f"), "old");
    struct Case {
        std::string digest;
        std::uint64_t limit;
        std::string error;
    };
    for (const auto& [digest, limit, error] : {
             Case{sha256("other"), 100, "expected SHA-256 " + sha256("other")},
             Case{sha256("content"), 6, "at most 6 bytes"},
             Case{"", 100, "SHA-256"},
         }) {
        const Fd source = descriptor_with("content");
        EXPECT_THAT(replace_file_from(root, "/f", source.get(), digest, {limit, ample().deadline},
                                      own(0600)),
                    IsError(Code::invalid, error));
        EXPECT_EQ(content_of(at("/f")), "old");
        EXPECT_THAT(names_in(scratch.inside()), ElementsAre("f"));
    }
}

TEST_F(ReplaceFileFrom, AnUnreadableDescriptorChangesNothing) {
    put(at("/f"), "old");
    const Fd write_only{::open("/dev/null", O_WRONLY)};
    EXPECT_THAT(replace_file_from(root, "/f", write_only.get(), sha256(""), ample(), own(0600)),
                IsError(Code::internal, "reading the new content: read /f"));
    EXPECT_EQ(content_of(at("/f")), "old");
}

TEST_F(ReplaceFileFrom, StopsAtTheDeadline) {
    put(at("/f"), "old");
    const Fd source = descriptor_with("content");
    const ReadLimit late{.bytes = 100, .deadline = std::chrono::steady_clock::now()};
    EXPECT_THAT(replace_file_from(root, "/f", source.get(), sha256("content"), late, own(0600)),
                IsError(Code::timeout, "/f: the deadline"));
    EXPECT_EQ(content_of(at("/f")), "old");
    EXPECT_THAT(names_in(scratch.inside()), ElementsAre("f"));
}

TEST_F(ReplaceSymlink, MakesAndReplacesLinks) {
    for (const char* target : {"first", "../second", "/third"}) {
        EXPECT_THAT(replace_symlink(root, "/f", target, own(0)), IsOk());
        EXPECT_EQ(fs::read_symlink(at("/f")), target);
    }
    EXPECT_THAT(names_in(scratch.inside()), ElementsAre("f"));
}

TEST_F(ReplaceSymlink, TakesThePlaceOfAFile) {
    put(at("/f"), "old");
    EXPECT_THAT(replace_symlink(root, "/f", "target", own(0)), IsOk());
    EXPECT_EQ(fs::read_symlink(at("/f")), "target");
}

TEST_F(ReplaceSymlink, RefusesOtherKindsOfObjects) {
    fs::create_directory(at("/d"));
    put(at("/twin"), "old");
    fs::create_hard_link(at("/twin"), at("/twin2"));
    EXPECT_THAT(replace_symlink(root, "/d", "x", own(0)), IsError(Code::conflict, "/d"));
    EXPECT_THAT(replace_symlink(root, "/twin", "x", own(0)), IsError(Code::conflict, "/twin"));
    EXPECT_THAT(replace_symlink(root, "/f", "", own(0)), IsError(Code::invalid, "target"));
    EXPECT_THAT(replace_symlink(root, "/f", std::string("a\0b", 3), own(0)),
                IsError(Code::invalid, "target"));
    EXPECT_THAT(names_in(scratch.inside()), ElementsAre("d", "twin", "twin2"));
}

TEST_F(Leftovers, AreRemovedAndNothingElseIs) {
    put(at("/f"), "old");
    put(at("/" + temporary_of_f()), "half");
    put(at("/.kubexm-foreign"), "x");
    EXPECT_THAT(remove_leftovers(root, "/f"), IsOk());
    EXPECT_THAT(names_in(scratch.inside()), ElementsAre(".kubexm-foreign", "f"));
    EXPECT_EQ(content_of(at("/f")), "old");
}

TEST_F(Leftovers, NoneAndAMissingParentAreSuccess) {
    EXPECT_THAT(remove_leftovers(root, "/f"), IsOk());
    EXPECT_THAT(remove_leftovers(root, "/no/f"), IsOk());
}

}  // namespace
}  // namespace kubexm::executor
