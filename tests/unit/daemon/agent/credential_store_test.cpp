#include "daemon/agent/credential_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace kubexm::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string kept(const CredentialStore& store, const std::string& name) {
    const auto read = store.read(name);
    if (!read) return read.error().what;
    const std::optional<Secret>& content = *read;
    return content ? std::string(content->reveal()) : "nothing";
}

class StoreTest : public testing::Test {
protected:
    StoreTest() { std::filesystem::create_directory(path_); }
    ~StoreTest() override { std::filesystem::remove_all(path_); }

    std::string path_ = testing::TempDir() + "store-" + std::to_string(::getpid());
};

TEST_F(StoreTest, GivesBackWhatItWasGiven) {
    const auto store = CredentialStore::open(path_);
    ASSERT_TRUE(store);
    EXPECT_FALSE(store->read("key").value().has_value());
    ASSERT_TRUE(store->write("key", Secret(std::string("first"))));
    ASSERT_TRUE(store->write("key", Secret(std::string("second"))));
    EXPECT_EQ(kept(*store, "key"), "second");
    EXPECT_THAT(store->names().value(), ElementsAre("key"));
    ASSERT_TRUE(store->remove("key"));
    ASSERT_TRUE(store->remove("key"));
    EXPECT_FALSE(store->read("key").value().has_value());
}

TEST_F(StoreTest, IsForItsUserOnly) {
    const auto store = CredentialStore::open(path_);
    ASSERT_TRUE(store && store->write("key", Secret(std::string("x"))));
    struct stat found{};
    ASSERT_EQ(::stat((path_ + "/key").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
    ASSERT_EQ(::chmod((path_ + "/key").c_str(), 0644), 0);
    const auto read = store->read("key");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::denied);
    EXPECT_THAT(read.error().what, HasSubstr("0644"));
}

TEST_F(StoreTest, FollowsNoLinkAndGoesOnAfterAKilledWriter) {
    const auto store = CredentialStore::open(path_);
    ASSERT_TRUE(store);
    std::filesystem::create_symlink("/etc/passwd", path_ + "/key");
    EXPECT_FALSE(store->read("key"));
    std::ofstream(path_ + "/key.new") << "half";
    ASSERT_TRUE(store->write("key", Secret(std::string("whole"))));
    EXPECT_EQ(kept(*store, "key"), "whole");
}

}  // namespace
}  // namespace kubexm::agent
