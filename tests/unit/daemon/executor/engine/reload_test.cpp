#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "engine_host.hpp"
#include "tests/unit/crash_child.hpp"

// The undo of a unit file makes systemd reload: the rest of the undo does not wait for it.

namespace kubexm::executor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const model::RenderedFile kProxy{model::ProxyDropIn{.service = model::ManagedService::containerd,
                                                    .https_proxy = "http://p:3128"}};

/// A host with a drop-in of a unit, which is undone first, and a link.
class UndoOfUnitFiles : public EngineHost {
protected:
    UndoOfUnitFiles() {
        std::filesystem::create_directories(scratch_.at(kDirectory));
        std::filesystem::create_directory(scratch_.at("/opt"));
        engine.allow({.directories = {{"symlink", {"/opt"}}}});
    }
    static model::Plan plan() {
        return {"p", "machine-1", {model::Symlink{"/opt/link", "x"}, kProxy}};
    }
    bool is_linked() const { return std::filesystem::is_symlink(scratch_.at("/opt/link")); }
    bool has_drop_in() const { return !std::filesystem::is_empty(scratch_.at(kDirectory)); }
    Result<PlanState> undone() {
        auto record = engine.accept_undo("u", "machine-1", kAgentCaller);
        if (!record) return std::unexpected(record.error());
        return carried_out(*record);
    }

    static constexpr const char* kDirectory = "/etc/systemd/system/containerd.service.d";
};

TEST_F(UndoOfUnitFiles, GoesOnWhileSystemdReloads) {
    ASSERT_THAT(applied(plan()), IsState(PlanState::done));
    std::atomic<bool> reloaded = false;
    std::atomic<bool> waited = true;
    fake.when("Reload", [&](Peer& peer, sd_bus_message* call) {
        const auto most = in(5s);
        while (is_linked() && std::chrono::steady_clock::now() < most) std::this_thread::yield();
        waited = is_linked();
        reloaded = true;
        peer.reply(call, "");
    });
    EXPECT_THAT(undone(), IsState(PlanState::undone));
    EXPECT_TRUE(reloaded);
    EXPECT_FALSE(waited);
    EXPECT_THAT(*engine.objects(), IsEmpty());
}

TEST_F(UndoOfUnitFiles, IsTriedAgainWhereTheReloadFails) {
    ASSERT_THAT(applied(plan()), IsState(PlanState::done));
    fake.when_first("Reload", refusal("org.freedesktop.systemd1.ShuttingDown"));
    std::map<std::string, std::uint32_t> left;
    on_wait_ = [&] { left = *engine.objects(); };
    EXPECT_THAT(undone(), IsState(PlanState::undone));
    EXPECT_THAT(waits_, ElementsAre(1s));
    EXPECT_THAT(left, ElementsAre(std::pair("machine-1", 1U))) << "the drop-in";
    EXPECT_THAT(*engine.objects(), IsEmpty());
}

TEST_F(UndoOfUnitFiles, IsResumedWithTheReload) {
    const auto in_another_process = [this](const std::function<void(Engine&)>& work) {
        Systemd bus(fake.address());
        Engine other(state(), root_, bus, engine.allowed());
        work(other);
    };
    const auto undo = [&] {
        in_another_process([](Engine& other) {
            auto record = other.accept_undo("u", "machine-1", kAgentCaller);
            if (record) std::ignore = other.carry_out(*record, {}, {[](const Report&) {}, [] {}});
        });
    };
    const auto resume = [&] {
        in_another_process([&](Engine& other) {
            const auto left = other.interrupted();
            if (left && *left) {
                std::ignore = other.carry_out(**left, {}, {[](const Report&) {}, [] {}});
            }
        });
        undo();
    };
    const auto apply_anew = [&] {
        std::filesystem::remove_all(state());
        std::filesystem::create_directory(state());
        in_another_process([](Engine& other) {
            auto record = other.accept(plan(), {}, kAgentCaller);
            ASSERT_THAT(record, IsOk());
            std::ignore = other.carry_out(*record, {}, {[](const Report&) {}, [] {}});
        });
    };
    apply_anew();
    const auto points = crash::crash_points_of(undo);
    EXPECT_GE(points.size(), 12U);
    for (const auto& point : points) {
        SCOPED_TRACE(testing::PrintToString(point));
        apply_anew();
        ASSERT_TRUE(crash::dies_at(point, undo));
        resume();
        EXPECT_FALSE(is_linked());
        EXPECT_FALSE(has_drop_in());
        in_another_process([](Engine& other) { EXPECT_THAT(*other.objects(), IsEmpty()); });
    }
}

}  // namespace
}  // namespace kubexm::executor
