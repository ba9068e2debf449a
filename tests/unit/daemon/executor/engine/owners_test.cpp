#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/base/digest.hpp"
#include "engine_host.hpp"

namespace kubexm::executor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// A host with links that several owners want.
class Owners : public EngineHost {
protected:
    PlanState apply(const std::string& owner, std::vector<model::Step> steps) {
        auto state = applied({fmt::format("p{}", ++plans_), owner, std::move(steps)}, kRootCaller);
        EXPECT_THAT(state, IsOk());
        return state.value_or(PlanState::refused);
    }
    PlanState undo(const std::string& owner) {
        auto record = engine.accept_undo(fmt::format("u{}", ++plans_), owner, kRootCaller);
        EXPECT_THAT(record, IsOk());
        return carried_out(*record).value_or(PlanState::refused);
    }
    /// Where a link leads; empty: there is none.
    std::string target(const std::string& path) const {
        const auto real = scratch_.at(path);
        return std::filesystem::is_symlink(real) ? std::filesystem::read_symlink(real).string()
                                                 : "";
    }
    std::map<std::string, std::uint32_t> objects() { return *engine.objects(); }

    int plans_ = 0;
};

TEST_F(Owners, AnObjectGoesWithTheLastOne) {
    EXPECT_EQ(apply("a", {model::Symlink{"/etc/link", "x"}}), PlanState::done);
    EXPECT_EQ(apply("b", {model::Symlink{"/etc/link", "x"}}), PlanState::done);
    EXPECT_THAT(objects(), ElementsAre(Pair("a", 1), Pair("b", 1)));
    EXPECT_EQ(engine.plan("p2")->steps.at(0).state, StepState::skipped);
    EXPECT_EQ(undo("a"), PlanState::undone);
    EXPECT_EQ(target("/etc/link"), "x");
    EXPECT_THAT(objects(), ElementsAre(Pair("b", 1)));
    EXPECT_EQ(undo("b"), PlanState::undone);
    EXPECT_EQ(target("/etc/link"), "");
    EXPECT_THAT(objects(), IsEmpty());
}

TEST_F(Owners, AnObjectThatWasAsWantedIsOwnedAndStays) {
    std::filesystem::create_symlink("x", scratch_.at("/etc/link"));
    EXPECT_EQ(apply("a", {model::Symlink{"/etc/link", "x"}}), PlanState::done);
    EXPECT_THAT(objects(), ElementsAre(Pair("a", 1)));
    EXPECT_EQ(undo("a"), PlanState::undone);
    EXPECT_EQ(target("/etc/link"), "x");
    EXPECT_THAT(objects(), IsEmpty());
}

TEST_F(Owners, TheStepOfTheRemainingOneIsAppliedAgain) {
    apply("a", {model::Symlink{"/etc/link", "x"}, model::Symlink{"/etc/other", "x"}});
    apply("b", {model::Symlink{"/etc/link", "y"}});
    apply("c", {model::Symlink{"/etc/link", "z"}});
    EXPECT_EQ(undo("b"), PlanState::undone);
    EXPECT_EQ(target("/etc/link"), "z");
    EXPECT_EQ(undo("c"), PlanState::undone);
    EXPECT_EQ(target("/etc/link"), "x");
    EXPECT_EQ(undo("a"), PlanState::undone);
    EXPECT_THAT(names_in(scratch_.at("/etc")), IsEmpty());
}

TEST_F(Owners, ADirectoryOfTwoOutlivesTheFilesOfOne) {
    engine.allow({.directories = {{"directory", {"/etc"}}, {"symlink", {"/etc"}}}});
    const model::Directory directory{"/etc/d", {.mode = model::Mode{0700}}};
    if (!is_root()) GTEST_SKIP() << "a directory of root";
    apply("a", {directory, model::Symlink{"/etc/d/a", "x"}});
    apply("b", {directory, model::Symlink{"/etc/d/b", "x"}});
    EXPECT_EQ(undo("a"), PlanState::undone);
    EXPECT_EQ(names_in(scratch_.at("/etc/d")), std::set<std::string>{"b"});
    EXPECT_EQ(undo("b"), PlanState::undone);
    EXPECT_THAT(names_in(scratch_.at("/etc")), IsEmpty());
}

TEST_F(Owners, AnUndoThatWasKilledWhileItAppliedAStepAgainIsRepeated) {
    apply("a", {model::Symlink{"/etc/link", "x"}});
    apply("b", {model::Symlink{"/etc/link", "y"}});
    auto record = engine.accept_undo("u", "b", kRootCaller);
    ASSERT_THAT(record, IsOk());
    // As if it had been killed between the change and the commit.
    std::filesystem::remove(scratch_.at("/etc/link"));
    std::filesystem::create_symlink("x", scratch_.at("/etc/link"));
    EXPECT_THAT(carried_out(*record), IsState(PlanState::undone));
    EXPECT_EQ(target("/etc/link"), "x");
    EXPECT_EQ(undo("a"), PlanState::undone);
    EXPECT_EQ(target("/etc/link"), "");
}

/// Generations of a secret, each in a file of its own.
class Generations : public Owners {
protected:
    Generations() { engine.allow({.directories = {{"secret-file", {"/etc"}}}}); }

    PlanState renew(int number, const std::string& owner = "a", const std::string& series = "s") {
        return write(fmt::format("/etc/{}-{}", owner, number), owner, series);
    }
    PlanState write(const std::string& path, const std::string& owner, const std::string& series) {
        const std::string content = "secret of " + path;
        model::SecretFile file{.path = path, .handle = "h", .digest = sha256(content)};
        file.series = series;
        std::vector<Content> contents;
        const auto source = scratch_.top() / "source";
        put(source, content);
        contents.push_back({file.digest, Fd{::open(source.c_str(), O_RDONLY | O_CLOEXEC)}});
        auto record =
            engine.accept({fmt::format("p{}", ++plans_), owner, {file}}, contents, kRootCaller);
        EXPECT_THAT(record, IsOk());
        return carried_out(*record).value_or(PlanState::refused);
    }
    std::size_t blobs() const { return names_in(state() + "/content").size(); }
};

TEST_F(Generations, OfASeriesArePresentAndPrevious) {
    if (!is_root()) GTEST_SKIP() << "a file of root";
    for (int number = 1; number <= 5; ++number) EXPECT_EQ(renew(number), PlanState::done);
    EXPECT_EQ(renew(1, "b"), PlanState::done);
    EXPECT_EQ(renew(6, "a", "other"), PlanState::done);
    EXPECT_EQ(names_in(scratch_.at("/etc")), (std::set<std::string>{"a-4", "a-5", "a-6", "b-1"}));
    EXPECT_EQ(blobs(), 4U);
    EXPECT_THAT(objects(), ElementsAre(Pair("a", 3), Pair("b", 1)));
    EXPECT_EQ(undo("a"), PlanState::undone);
    EXPECT_EQ(names_in(scratch_.at("/etc")), std::set<std::string>{"b-1"});
    EXPECT_EQ(blobs(), 1U);
}

TEST_F(Generations, ThatAnotherOwnerWantsStay) {
    if (!is_root()) GTEST_SKIP() << "a file of root";
    EXPECT_EQ(renew(1), PlanState::done);
    EXPECT_EQ(write("/etc/a-1", "b", "t"), PlanState::done);
    for (int number = 2; number <= 4; ++number) EXPECT_EQ(renew(number), PlanState::done);
    EXPECT_EQ(names_in(scratch_.at("/etc")), (std::set<std::string>{"a-1", "a-3", "a-4"}));
    EXPECT_THAT(objects(), ElementsAre(Pair("a", 2), Pair("b", 1)));
}

}  // namespace
}  // namespace kubexm::executor
