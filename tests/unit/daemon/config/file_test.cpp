#include "daemon/config/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/config/document.hpp"
#include "tests/unit/daemon/config/scratch.hpp"

namespace kubexm::config {
namespace {

TEST(ReadFile, GivesTheContentUpToTheLimit) {
    const Scratch scratch;
    const std::string most(kMaxFileBytes, 'x');
    EXPECT_EQ(read_file(scratch.write("f", most)), most);
    const auto refused = read_file(scratch.write("f", most + "x"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), (Error{Code::invalid, "expected at most 256 KiB"}));
}

TEST(ReadFile, AMissingFileIsToldFromOneThatOnlySeemsToBeThere) {
    const Scratch scratch;
    EXPECT_EQ(read_file(scratch.path("none")).error().code, Code::not_found);
    std::filesystem::create_symlink("nowhere", scratch.path("link"));
    EXPECT_EQ(read_file(scratch.path("link")).error(),
              (Error{Code::invalid, "expected a file, found a symbolic link to nothing"}));
}

TEST(ReadFile, DoesNotWaitForAPipe) {
    const Scratch scratch;
    ASSERT_EQ(::mkfifo(scratch.path("pipe").c_str(), 0600), 0);
    EXPECT_EQ(read_file(scratch.path("pipe")).error(),
              (Error{Code::invalid, "expected a regular file"}));
}

TEST(ReadFileOf, TakesOnlyWhatTheOwnerAloneCanChange) {
    const Scratch scratch;
    const std::string file = scratch.write("f", "x");
    EXPECT_EQ(read_file_of(file, ::geteuid()), "x");
    for (const mode_t mode : {mode_t{0664}, mode_t{0646}, mode_t{0620}, mode_t{0602}}) {
        ASSERT_EQ(::chmod(file.c_str(), mode), 0);
        const auto refused = read_file_of(file, ::geteuid());
        ASSERT_FALSE(refused) << mode;
        EXPECT_EQ(refused.error().code, Code::denied);
    }
}

TEST(ReadFileOf, RefusesAFileOfSomebodyElse) {
    const Scratch scratch;
    const uid_t other = ::geteuid() + 1;
    const auto refused = read_file_of(scratch.write("f", "x"), other);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::denied);
    EXPECT_THAT(refused.error().what,
                testing::HasSubstr("that user " + std::to_string(other) + " owns"));
}

TEST(ReadFileOf, LooksAtTheFileAndNotAtTheLinkToIt) {
    const Scratch scratch;
    const std::string file = scratch.write("f", "x");
    ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
    std::filesystem::create_symlink(file, scratch.path("link"));
    EXPECT_EQ(read_file_of(scratch.path("link"), ::geteuid()).error().code, Code::denied);
}

}  // namespace
}  // namespace kubexm::config
