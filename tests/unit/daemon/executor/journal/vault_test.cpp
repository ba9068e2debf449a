#include "daemon/executor/journal/vault.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <tuple>

#include "daemon/base/digest.hpp"
#include "examples.hpp"
#include "scratch.hpp"
#include "tests/unit/crash_child.hpp"

namespace kubexm::executor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Fd file_with(const std::string& content) {
    Fd fd{::memfd_create("content", MFD_CLOEXEC)};
    if (::write(fd.get(), content.data(), content.size()) < 0) std::abort();
    ::lseek(fd.get(), 0, SEEK_SET);
    return fd;
}

std::string read_all(int fd) {
    std::string content(1 << 20, '\0');
    const ssize_t size = ::read(fd, content.data(), content.size());
    content.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return content;
}

mode_t mode_of(const std::string& path) {
    struct stat status{};
    ::lstat(path.c_str(), &status);
    return status.st_mode & ALLPERMS;
}

class VaultTest : public testing::Test {
protected:
    std::string directory() const { return scratch_.file("vault"); }
    std::string blob(const std::string& content) const {
        return directory() + "/" + sha256(content);
    }
    std::vector<std::string> names() const {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(directory())) {
            found.push_back(entry.path().filename());
        }
        return found;
    }
    Vault& vault() { return *vault_; }

    const Scratch scratch_;
    Result<Vault> vault_ = Vault::open(directory());
};

TEST_F(VaultTest, StoredContentCanBeRead) {
    for (const std::string& content :
         {std::string("a secret"), std::string(), std::string(70000, 'x')}) {
        ASSERT_OK(vault().store(content, sha256(content)));
        EXPECT_TRUE(vault().has(sha256(content)));
        const auto blob = vault().open_blob(sha256(content));
        ASSERT_TRUE(blob) << blob.error().what;
        EXPECT_EQ(read_all(blob->get()), content);
    }
}

TEST_F(VaultTest, StoresContentFromADescriptor) {
    const std::string content(70000, 'y');
    const Fd source = file_with(content);
    ASSERT_OK(vault().store(source.get(), sha256(content), content.size()));
    EXPECT_EQ(read_all(vault().open_blob(sha256(content))->get()), content);
}

TEST_F(VaultTest, OnlyTheOwnerCanRead) {
    ASSERT_OK(vault().store("x", sha256("x")));
    EXPECT_EQ(mode_of(directory()), 0700U);
    EXPECT_EQ(mode_of(blob("x")), 0600U);
}

TEST_F(VaultTest, OpenRemovesThePermissionsOfOthers) {
    ASSERT_EQ(::chmod(directory().c_str(), 0755), 0);
    ASSERT_TRUE(Vault::open(directory()));
    EXPECT_EQ(mode_of(directory()), 0700U);
}

TEST_F(VaultTest, AWrongDigestIsRejectedAndNothingIsStored) {
    const auto by_string = vault().store("content", sha256("other"));
    ASSERT_FALSE(by_string);
    EXPECT_EQ(by_string.error().code, Code::invalid);
    EXPECT_THAT(by_string.error().what, HasSubstr(sha256("other")));
    const Fd source = file_with("content");
    EXPECT_EQ(vault().store(source.get(), sha256("other"), 100).error().code, Code::invalid);
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(VaultTest, ContentOverTheLimitIsRejected) {
    const Fd source = file_with("12345");
    const auto refused = vault().store(source.get(), sha256("12345"), 4);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_THAT(refused.error().what, HasSubstr("more than 4 bytes"));
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(VaultTest, APipeIsRejected) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd reader{ends[0]};
    const Fd writer{ends[1]};  // open: reading would block
    EXPECT_EQ(vault().store(reader.get(), sha256(""), 10).error().code, Code::invalid);
}

TEST_F(VaultTest, AnInvalidDigestIsRejected) {
    std::ofstream(scratch_.file("outside")) << "x";
    for (const std::string& name :
         {std::string("../outside"), std::string(), std::string(63, 'a'), std::string(64, 'G'),
          std::string(64, 'A'), std::string(64, '.'), sha256("x") + "/", std::string(64, '\0')}) {
        EXPECT_FALSE(vault().has(name));
        EXPECT_EQ(vault().open_blob(name).error().code, Code::invalid);
        EXPECT_EQ(vault().store("x", name).error().code, Code::invalid);
    }
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(VaultTest, UnknownContentIsNotFound) {
    EXPECT_FALSE(vault().has(sha256("x")));
    EXPECT_EQ(vault().open_blob(sha256("x")).error().code, Code::not_found);
}

TEST_F(VaultTest, ADamagedBlobIsCorrupt) {
    ASSERT_OK(vault().store("content", sha256("content")));
    write_bytes(blob("content"), "c0ntent");
    const auto damaged = vault().open_blob(sha256("content"));
    ASSERT_FALSE(damaged);
    EXPECT_EQ(damaged.error().code, Code::corrupt);
    EXPECT_THAT(damaged.error().what, HasSubstr(blob("content")));
    ASSERT_OK(vault().store("content", sha256("content")));
    EXPECT_TRUE(vault().open_blob(sha256("content")));
}

TEST_F(VaultTest, ALinkOrAFifoInPlaceOfABlobIsNotOpened) {
    std::ofstream(scratch_.file("outside")) << "content";
    std::filesystem::create_symlink(scratch_.file("outside"), blob("content"));
    EXPECT_EQ(vault().open_blob(sha256("content")).error().code, Code::denied);
    ASSERT_EQ(::mkfifo(blob("pipe").c_str(), 0600), 0);
    EXPECT_FALSE(vault().open_blob(sha256("pipe")));
    // store() replaces the link and does not write through it.
    ASSERT_OK(vault().store("content", sha256("content")));
    EXPECT_FALSE(std::filesystem::is_symlink(blob("content")));
}

TEST_F(VaultTest, RetainRemovesUnwantedBlobs) {
    for (const char* content : {"a", "b", "c"}) ASSERT_OK(vault().store(content, sha256(content)));
    write_bytes(directory() + "/README", "not a blob");
    ASSERT_OK(vault().retain({sha256("b"), sha256("unknown")}));
    EXPECT_THAT(names(), testing::UnorderedElementsAre(sha256("b"), "README"));
}

/// Limits the size of files that this process writes, like a full disk.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) {
        ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        ::signal(SIGXFSZ, SIG_DFL);
    }

private:
    rlimit before_{};
};

TEST_F(VaultTest, AFailedWriteLeavesNothingAndCanBeRetried) {
    const std::string content(50000, 'z');
    ASSERT_OK(vault().store("small", sha256("small")));
    {
        const FileSizeLimit full(20000);
        const auto refused = vault().store(content, sha256(content));
        ASSERT_FALSE(refused);
        EXPECT_THAT(refused.error().what, HasSubstr(blob(content)));
        EXPECT_THAT(names(), ElementsAre(sha256("small")));
    }
    ASSERT_OK(vault().store(content, sha256(content)));
}

TEST_F(VaultTest, AnInterruptedStoreIsWholeOrAbsent) {
    const std::string content(50000, 'z');
    const auto work = [&] {
        auto theirs = Vault::open(directory());
        std::ignore = theirs->store(content, sha256(content));
        std::ignore = theirs->store("second", sha256("second"));
    };
    const auto points = crash::crash_points_of(work);
    ASSERT_GE(points.size(), 6U);
    for (const crash::CrashPoint& point : points) {
        SCOPED_TRACE(testing::PrintToString(point));
        std::filesystem::remove_all(directory());
        ASSERT_TRUE(crash::dies_at(point, work));
        auto again = Vault::open(directory());
        ASSERT_TRUE(again);
        for (const std::string& name : names()) {
            EXPECT_TRUE(again->open_blob(name)) << name;
        }
        ASSERT_OK(again->store(content, sha256(content)));
    }
}

TEST_F(VaultTest, AnInterruptedRetainKeepsWantedBlobs) {
    const auto work = [&] {
        auto theirs = Vault::open(directory());
        std::ignore = theirs->retain({sha256("b")});
    };
    const auto fill = [&] {
        for (const char* content : {"a", "b", "c"}) {
            ASSERT_OK(vault().store(content, sha256(content)));
        }
    };
    fill();
    for (const crash::CrashPoint& point : crash::crash_points_of(work)) {
        SCOPED_TRACE(testing::PrintToString(point));
        fill();
        ASSERT_TRUE(crash::dies_at(point, work));
        EXPECT_TRUE(vault().open_blob(sha256("b")));
        work();
        EXPECT_THAT(names(), ElementsAre(sha256("b")));
    }
}

TEST(VaultOpen, NeedsItsParent) {
    const Scratch scratch;
    const auto vault = Vault::open(scratch.file("missing/vault"));
    ASSERT_FALSE(vault);
    EXPECT_EQ(vault.error().code, Code::not_found);
}

TEST(VaultOpen, DeniesTheDirectoryOfAnotherUser) {
    // As another user than root: /proc/1 belongs to root.
    const std::string foreign = ::geteuid() == 0 ? "" : "/proc/1";
    const Scratch scratch;
    const std::string directory = foreign.empty() ? scratch.file("theirs") : foreign;
    if (foreign.empty()) {
        ASSERT_EQ(::mkdir(directory.c_str(), 0700), 0);
        ASSERT_EQ(::chown(directory.c_str(), 12345, 12345), 0);
    }
    EXPECT_EQ(Vault::open(directory).error().code, Code::denied);
}

}  // namespace
}  // namespace kubexm::executor
