#include "daemon/agent/credential_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/unit/temp_directory.hpp"

namespace kubexm::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string content_of(const CredentialStore& store, const std::string& name) {
    const auto read = store.read(name);
    if (!read) return read.error().what;
    const std::optional<Secret>& content = *read;
    return content ? std::string(content->reveal()) : "nothing";
}

class CredentialStoreTest : public testing::Test {
protected:
    TempDirectory directory_;
};

TEST_F(CredentialStoreTest, RemovesWhatAKilledProcessDidNotFinish) {
    directory_.write("key.new", "half a ke");
    directory_.write("key", "whole");
    const auto store = CredentialStore::open(directory_.path());
    ASSERT_TRUE(store);
    EXPECT_THAT(store->names().value(), ElementsAre("key"));
}

TEST_F(CredentialStoreTest, ReturnsTheLastContent) {
    const auto store = CredentialStore::open(directory_.path());
    ASSERT_TRUE(store);
    EXPECT_FALSE(store->read("key").value().has_value());
    ASSERT_TRUE(store->write("key", Secret(std::string("first"))));
    ASSERT_TRUE(store->write("key", Secret(std::string("second"))));
    EXPECT_EQ(content_of(*store, "key"), "second");
    EXPECT_THAT(store->names().value(), ElementsAre("key"));
    ASSERT_TRUE(store->remove("key"));
    ASSERT_TRUE(store->remove("key"));
    EXPECT_FALSE(store->read("key").value().has_value());
}

TEST_F(CredentialStoreTest, OnlyItsUserCanRead) {
    const auto store = CredentialStore::open(directory_.path());
    ASSERT_TRUE(store && store->write("key", Secret(std::string("x"))));
    struct stat found{};
    ASSERT_EQ(::stat((directory_ / "key").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
    ASSERT_EQ(::chmod((directory_ / "key").c_str(), 0644), 0);
    const auto read = store->read("key");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::denied);
    EXPECT_THAT(read.error().what, HasSubstr("0644"));
}

TEST_F(CredentialStoreTest, RefusesALinkAndOverwritesATemporaryFile) {
    const auto store = CredentialStore::open(directory_.path());
    ASSERT_TRUE(store);
    std::filesystem::create_symlink("/etc/passwd", directory_ / "key");
    EXPECT_FALSE(store->read("key"));
    directory_.write("key.new", "half");
    ASSERT_TRUE(store->write("key", Secret(std::string("whole"))));
    EXPECT_EQ(content_of(*store, "key"), "whole");
}

}  // namespace
}  // namespace kubexm::agent
