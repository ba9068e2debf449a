#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "daemon/base/digest.hpp"
#include "daemon/executor/steps/steps.hpp"
#include "tests/unit/temp_directory.hpp"

namespace kubexm::executor {
namespace {

namespace fs = std::filesystem;
using model::ComponentVersion;

/// A host with an empty /opt/kubexm, and a vault with the content of two versions.
class Components : public testing::Test {
protected:
    Context context() {
        return {root_, systemd_, vault_,
                std::chrono::steady_clock::now() + std::chrono::seconds(10), previous_};
    }
    ComponentVersion version(const std::string& name) {
        const std::string binary = "binary of " + name;
        EXPECT_TRUE(vault_.store(binary, sha256(binary)));
        return {"kubelet", name, {{"bin/kubelet", sha256(binary), {0755}}}};
    }
    void install(const ComponentVersion& step) {
        Context working = context();
        auto done = apply(working, step);
        ASSERT_TRUE(done) << done.error().what;
        EXPECT_TRUE(*holds(working, step));
        previous_ = step;
    }
    fs::path home() const { return top_ / "host/opt/kubexm/kubelet"; }
    std::string in_use() const {
        std::ifstream file(home() / "current/bin/kubelet");
        return {std::istreambuf_iterator<char>(file), {}};
    }

    TempDirectory top_;
    bool made_ = fs::create_directories(top_ / "host/opt/kubexm");
    Root root_ = *Root::open(top_ / "host");
    Vault vault_ = *Vault::open(top_ / "vault");
    Systemd systemd_;
    std::optional<model::Step> previous_;
};

TEST_F(Components, AreInstalledAndInUse) {
    const auto step = version("v1");
    Context working = context();
    EXPECT_FALSE(*holds(working, step));
    install(step);
    EXPECT_EQ(in_use(), "binary of v1");
    EXPECT_EQ(fs::read_symlink(home() / "current"), "v1");
    EXPECT_EQ(fs::status(home() / "v1/bin/kubelet").permissions(), fs::perms{0755});
}

TEST_F(Components, AreRemovedByUndoWithAllInstalledVersions) {
    Context working = context();
    const auto before = *capture(working, version("v1"));
    install(version("v1"));
    install(version("v2"));
    EXPECT_EQ(in_use(), "binary of v2");
    auto stays = undo(working, version("v2"), before);
    ASSERT_TRUE(stays) << stays.error().what;
    EXPECT_EQ(*stays, "");
    EXPECT_FALSE(fs::exists(home()));
}

TEST_F(Components, OfAnotherOwnerAreInUseAgainAfterUndo) {
    fs::create_directories(home() / "theirs/bin");
    std::ofstream(home() / "theirs/bin/kubelet") << "their binary";
    fs::create_symlink("theirs", home() / "current");
    Context working = context();
    const auto before = *capture(working, version("v1"));
    install(version("v1"));
    ASSERT_TRUE(undo(working, version("v1"), before));
    EXPECT_EQ(in_use(), "their binary");
    EXPECT_FALSE(fs::exists(home() / "v1"));
}

TEST_F(Components, OfTheSameVersionButOtherContentAreNotOverwritten) {
    fs::create_directories(home() / "v1/bin");
    std::ofstream(home() / "v1/bin/kubelet") << "unknown";
    Context working = context();
    auto refused = capture(working, version("v1"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
    EXPECT_THAT(refused.error().what, testing::HasSubstr("/opt/kubexm/kubelet/v1"));
}

TEST_F(Components, ThatWereAlteredAreRepaired) {
    install(version("v1"));
    std::ofstream(home() / "v1/bin/kubelet") << "altered";
    Context working = context();
    EXPECT_FALSE(*holds(working, version("v1")));
    ASSERT_TRUE(capture(working, version("v1")));
    install(version("v1"));
    EXPECT_EQ(in_use(), "binary of v1");
}

TEST_F(Components, WithMissingContentLeaveTheOldVersionInUse) {
    install(version("v1"));
    const ComponentVersion missing{"kubelet", "v2", {{"bin/kubelet", sha256("not kept"), {0755}}}};
    Context working = context();
    auto failed = apply(working, missing);
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().what, testing::HasSubstr("/opt/kubexm/kubelet/v2/bin/kubelet"));
    EXPECT_EQ(in_use(), "binary of v1");
}

}  // namespace
}  // namespace kubexm::executor
