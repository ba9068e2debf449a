#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "engine_host.hpp"

namespace kubexm::executor {
namespace {

using testing::IsEmpty;

/// Directories of ours and of others, with real modes.
class Directories : public EngineHost {
protected:
    Directories() { engine.allow({.directories = {{"directory", {"/etc"}}}}); }
    void SetUp() override {
        if (!is_root()) GTEST_SKIP() << "directories of root";
    }
    PlanState apply(const std::string& id, std::uint32_t mode) {
        return applied({id, "machine-1", {model::Directory{"/etc/d", {.mode = model::Mode{mode}}}}})
            .value_or(PlanState::refused);
    }
    mode_t mode() const {
        struct stat status{};
        EXPECT_EQ(::stat(scratch_.at("/etc/d").c_str(), &status), 0);
        return status.st_mode & 07777U;
    }
    void change_mode(mode_t mode) { EXPECT_EQ(::chmod(scratch_.at("/etc/d").c_str(), mode), 0); }
    PlanState undo() {
        return carried_out(*engine.accept_undo("u", "machine-1", kAgentCaller))
            .value_or(PlanState::refused);
    }
};

TEST_F(Directories, OfOthersKeepTheirModes) {
    std::filesystem::create_directory(scratch_.at("/etc/d"));
    change_mode(0700);
    EXPECT_EQ(apply("p1", 0755), PlanState::done);
    EXPECT_EQ(mode(), 0700U);
    EXPECT_THAT(engine.drift()->objects, IsEmpty());
    change_mode(0711);
    EXPECT_THAT(engine.drift()->objects, IsEmpty()) << "its owner may change it";
    EXPECT_EQ(undo(), PlanState::undone);
    EXPECT_EQ(mode(), 0711U);
}

TEST_F(Directories, OfOursGetTheModeOfTheStep) {
    EXPECT_EQ(apply("p1", 0755), PlanState::done);
    EXPECT_EQ(mode(), 0755U);
    EXPECT_EQ(apply("p2", 0750), PlanState::done);
    EXPECT_EQ(mode(), 0750U);
    change_mode(0777);
    EXPECT_EQ(engine.drift()->objects.size(), 1U);
    EXPECT_EQ(undo(), PlanState::undone);
    EXPECT_FALSE(std::filesystem::exists(scratch_.at("/etc/d")));
}

}  // namespace
}  // namespace kubexm::executor
