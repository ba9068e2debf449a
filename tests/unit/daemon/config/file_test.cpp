#include "daemon/config/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/daemon/config/scratch.hpp"

namespace kubexm::config {
namespace {

TEST(ReadConfig, ReadsUpToTheLimit) {
    const Scratch scratch;
    const std::string most(kMaxFileBytes, 'x');
    EXPECT_EQ(read_config(scratch.write("f", most)), most);
    const std::string file = scratch.write("f", most + "x");
    EXPECT_EQ(read_config(file).error(),
              (Error{Code::invalid, file + ": expected at most 262144 bytes"}));
}

TEST(ReadConfig, DistinguishesAMissingFileFromADanglingLink) {
    const Scratch scratch;
    EXPECT_EQ(read_config(scratch.path("none")).error().code, Code::not_found);
    std::filesystem::create_symlink("nowhere", scratch.path("link"));
    EXPECT_EQ(read_config(scratch.path("link")).error().code, Code::invalid);
}

TEST(ReadConfigOf, AcceptsOnlyAFileThatTheOwnerAloneCanWrite) {
    const Scratch scratch;
    const std::string file = scratch.write("f", "x");
    EXPECT_EQ(read_config_of(file, ::geteuid()), "x");
    for (const mode_t mode : {mode_t{0664}, mode_t{0646}, mode_t{0620}, mode_t{0602}}) {
        ASSERT_EQ(::chmod(file.c_str(), mode), 0);
        const auto refused = read_config_of(file, ::geteuid());
        ASSERT_FALSE(refused) << mode;
        EXPECT_EQ(refused.error().code, Code::denied);
    }
}

TEST(ReadConfigOf, RefusesAnotherOwner) {
    const Scratch scratch;
    const uid_t other = ::geteuid() + 1;
    const auto refused = read_config_of(scratch.write("f", "x"), other);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::denied);
    EXPECT_THAT(refused.error().what,
                testing::HasSubstr("expected owner " + std::to_string(other)));
}

TEST(ReadConfigOf, ChecksTheTargetOfALink) {
    const Scratch scratch;
    const std::string file = scratch.write("f", "x");
    ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
    std::filesystem::create_symlink(file, scratch.path("link"));
    EXPECT_EQ(read_config_of(scratch.path("link"), ::geteuid()).error().code, Code::denied);
}

}  // namespace
}  // namespace kubexm::config
