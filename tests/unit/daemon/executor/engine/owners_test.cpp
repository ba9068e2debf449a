#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../host/path_units.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/model/remaining.hpp"
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

TEST_F(Owners, AStepThatRootNoLongerPermitsIsNotAppliedAgain) {
    apply("a", {model::Symlink{"/etc/link", "x"}, model::Symlink{"/etc/other", "x"}});
    apply("b", {model::Symlink{"/etc/link", "y"}, model::Symlink{"/etc/other", "y"}});
    engine.allow({.directories = {{"symlink", {"/etc/other", "/etc/x"}}}});
    EXPECT_EQ(undo("b"), PlanState::undone) << "giving back is always permitted";
    EXPECT_EQ(target("/etc/link"), "y");
    const auto stays = model::stays_from_json(engine.plan("u3")->stays)->named;
    ASSERT_EQ(stays.size(), 1U);
    EXPECT_EQ(stays[0].object, "link /etc/link");
    EXPECT_THAT(stays[0].why, testing::HasSubstr("not permitted any more"));
    EXPECT_THAT(objects(), ElementsAre(Pair("a", 2)));
    EXPECT_EQ(undo("a"), PlanState::undone);
    EXPECT_EQ(target("/etc/link"), "");
}

/// What root's owner "hardening" has applied, and what kubexmd asks for.
class RootsObjects : public Owners {
protected:
    RootsObjects() {
        engine.allow({.directories = {{"symlink", {"/etc"}},
                                      {"directory", {"/etc"}},
                                      {"managed-block", {"/etc"}},
                                      {"absent-path", {"/etc"}},
                                      {"deleted-tree", {"/etc"}},
                                      {"claim", {"/etc"}}}});
        std::filesystem::create_directories(scratch_.at("/etc/roots"));
        put(scratch_.at("/etc/hosts"), "");
        EXPECT_EQ(apply("hardening", {model::Symlink{"/etc/roots/link", "x"}, kBlock}),
                  PlanState::done);
    }
    Result<> asked(const model::Step& step) {
        return engine.acceptable({"asked", "machine-1", {step}}, {}, kAgentCaller);
    }
    static inline const model::ManagedBlock kBlock{"/etc/hosts", "roots", {"192.0.2.1 a"}};
};

TEST_F(RootsObjects, AreNotReplaced) {
    model::ManagedBlock block = kBlock;
    block.lines = {"192.0.2.66 a"};
    EXPECT_THAT(asked(block), IsError(Code::denied, "owner hardening of root"));
    EXPECT_THAT(asked(model::Symlink{"/etc/roots/link", "y"}),
                IsError(Code::denied, "link /etc/roots/link: expected it as owner hardening"));
}

TEST_F(RootsObjects, AreNotReplacedByAnotherType) {
    for (const model::Step& step : std::vector<model::Step>{
             model::AbsentPath{"/etc/roots/link"}, model::DeletedTree{"/etc/roots"},
             model::ManagedBlock{"/etc/roots/link", "n", {"line"}}}) {
        EXPECT_THAT(asked(step), IsError(Code::denied, "kubexmctl undo hardening"))
            << model::text_of(step);
    }
}

/// The file decides at the next boot.
TEST_F(RootsObjects, AreNotOverriddenByAFileOfKernelParameters) {
    engine.allow({.sysctls = {"vm.overcommit_memory", "vm.panic_on_oom", "kernel.panic"}});
    for (const char* name : {"overcommit_memory", "panic_on_oom"}) {
        std::filesystem::create_directories(scratch_.at("/proc/sys/vm"));
        put(scratch_.at(std::string("/proc/sys/vm/") + name), "0\n");
    }
    std::filesystem::create_directories(scratch_.at("/etc/sysctl.d"));
    const auto file = [](const std::string& key, const std::string& value) {
        return model::RenderedFile{model::SysctlFile{{{"kernel.panic", "10"}, {key, value}}}, {}};
    };
    EXPECT_EQ(apply("tuning", {model::Sysctl{"vm.overcommit_memory", "2"}}), PlanState::done);
    EXPECT_THAT(asked(file("vm.overcommit_memory", "1")), IsError(Code::denied, "owner tuning"));
    EXPECT_THAT(asked(file("vm.overcommit_memory", "2")), IsOk());
    EXPECT_THAT(asked(file("vm.panic_on_oom", "0")), IsOk());
    if (!is_root()) GTEST_SKIP() << "a file of root";
    EXPECT_EQ(apply("tuning", {file("vm.panic_on_oom", "1")}), PlanState::done);
    EXPECT_THAT(asked(model::Sysctl{"vm.panic_on_oom", "0"}),
                IsError(Code::denied, "file /etc/sysctl.d/99-kubexm.conf"));
    EXPECT_THAT(asked(model::Sysctl{"vm.panic_on_oom", "1"}), IsOk());
}

TEST_F(RootsObjects, MayGetOneMoreOwner) {
    EXPECT_THAT(applied({"p", "machine-1", {model::Symlink{"/etc/roots/link", "x"}, kBlock}}),
                IsState(PlanState::done));
    EXPECT_THAT(asked(model::ManagedBlock{"/etc/hosts", "ours", {"192.0.2.66 a"}}), IsOk());
    EXPECT_THAT(asked(model::Claim{"/etc/roots"}), IsOk());
    EXPECT_EQ(undo("machine-1"), PlanState::undone);
    EXPECT_EQ(target("/etc/roots/link"), "x");
}

TEST_F(RootsObjects, OutliveAClaimThatWasThereBefore) {
    have_units(fake, "Where", {});  // no mounts below the claim
    std::filesystem::create_directory(scratch_.at("/etc/claimed"));
    EXPECT_THAT(applied({"p", "machine-1", {model::Claim{"/etc/claimed"}}}),
                IsState(PlanState::done));
    std::filesystem::create_directories(scratch_.at("/etc/claimed/deep"));
    std::filesystem::create_directories(scratch_.at("/etc/claimed/new"));
    apply("hardening", {model::Symlink{"/etc/claimed/deep/link", "x"}});
    EXPECT_EQ(undo("machine-1"), PlanState::undone);
    EXPECT_EQ(target("/etc/claimed/deep/link"), "x");
    EXPECT_FALSE(std::filesystem::exists(scratch_.at("/etc/claimed/new")));
    const auto stays = model::stays_from_json(engine.plan("u3")->stays)->named;
    ASSERT_EQ(stays.size(), 1U);
    EXPECT_EQ(stays[0].why, "/etc/claimed stays with deep: not made by pods");
}

TEST_F(RootsObjects, ThatAreToBeAbsentDoNotOutliveAClaim) {
    have_units(fake, "Where", {});
    std::filesystem::create_directory(scratch_.at("/etc/claimed"));
    EXPECT_THAT(applied({"p", "machine-1", {model::Claim{"/etc/claimed"}}}),
                IsState(PlanState::done));
    put(scratch_.at("/etc/claimed/unwanted"), "");
    apply("hardening", {model::AbsentPath{"/etc/claimed/unwanted"}});
    put(scratch_.at("/etc/claimed/unwanted"), "again");
    EXPECT_EQ(undo("machine-1"), PlanState::undone);
    EXPECT_THAT(names_in(scratch_.at("/etc/claimed")), IsEmpty());
}

TEST_F(RootsObjects, AreFreeAfterTheirUndo) {
    EXPECT_EQ(undo("hardening"), PlanState::undone);
    EXPECT_THAT(asked(model::Symlink{"/etc/roots/link", "y"}), IsOk());
}

TEST_F(RootsObjects, AreRootsToReplace) {
    EXPECT_EQ(apply("other", {model::Symlink{"/etc/roots/link", "y"}}), PlanState::done);
    EXPECT_EQ(target("/etc/roots/link"), "y");
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
