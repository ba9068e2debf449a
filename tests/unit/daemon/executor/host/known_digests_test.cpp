#include "daemon/executor/host/known_digests.hpp"

#include <fcntl.h>

#include "daemon/base/digest.hpp"
#include "tests/unit/daemon/executor/host/scratch.hpp"

namespace kubexm::executor {
namespace {

/// A file that is at rest: for the digests its last change is a minute ago.
class KnownDigestsTest : public FilesTest {
protected:
    KnownDigestsTest() { put(at("/program"), "first"); }

    Result<std::string> digest(const ReadLimit& limit = ample()) {
        return digests_.digest_of(root, "/program", limit);
    }
    /// Of a file that would have to be read.
    Result<std::string> digest_without_reading() {
        return digest({.bytes = 0, .deadline = ample().deadline});
    }

    std::time_t now_ = std::time(nullptr) + 60;
    KnownDigests digests_{[this] { return now_; }};
};

TEST_F(KnownDigestsTest, AFileIsReadOnce) {
    EXPECT_EQ(digest_without_reading(), "");
    EXPECT_EQ(digest(), sha256("first"));
    EXPECT_EQ(digest_without_reading(), sha256("first"));
}

TEST_F(KnownDigestsTest, AChangeIsSeenAlsoBehindTheSameSizeAndTime) {
    EXPECT_EQ(digest(), sha256("first"));
    const struct stat before = status_of(at("/program"));
    put(at("/program"), "other");
    const timespec times[2] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, at("/program").c_str(), times, 0), 0);
    EXPECT_EQ(digest(), sha256("other"));
}

TEST_F(KnownDigestsTest, AReplacedFileIsReadAgain) {
    EXPECT_EQ(digest(), sha256("first"));
    put(at("/new"), "other");
    fs::rename(at("/new"), at("/program"));
    EXPECT_EQ(digest(), sha256("other"));
}

TEST_F(KnownDigestsTest, AFileThatHasJustChangedIsReadAgain) {
    now_ = status_of(at("/program")).st_ctim.tv_sec;
    EXPECT_EQ(digest(), sha256("first"));
    EXPECT_EQ(digest_without_reading(), "");
}

TEST_F(KnownDigestsTest, OnlyARegularFileHasOne) {
    fs::remove(at("/program"));
    EXPECT_THAT(digest(), IsError(Code::not_found, "/program"));
    fs::create_symlink("elsewhere", at("/program"));
    EXPECT_THAT(digest(), IsError(Code::denied, "/program"));
}

}  // namespace
}  // namespace kubexm::executor
