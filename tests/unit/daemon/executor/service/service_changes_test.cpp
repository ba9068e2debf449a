#include <sys/inotify.h>

#include <atomic>

#include "service_host.hpp"

// What a subscriber learns about objects on the host, and repairs.

namespace kubexm::executor {
namespace {

// Errors of the system calls; 0: none.
std::atomic<int> no_watch;
std::atomic<int> no_inotify;

int failed(int error) noexcept {
    errno = error;
    return -1;
}

}  // namespace
}  // namespace kubexm::executor

// In place of libc's.
extern "C" int inotify_init1(int flags) noexcept {
    if (const int error = kubexm::executor::no_inotify) return kubexm::executor::failed(error);
    return static_cast<int>(::syscall(SYS_inotify_init1, flags));
}
extern "C" int inotify_add_watch(int inotify, const char* path, std::uint32_t mask) noexcept {
    if (const int error = kubexm::executor::no_watch) return kubexm::executor::failed(error);
    return static_cast<int>(::syscall(SYS_inotify_add_watch, inotify, path, mask));
}

namespace kubexm::executor {
namespace {

using model::PlanState;
using testing::StartsWith;

class ServiceChangesTest : public ServiceHost {
protected:
    /// With one applied link.
    void apply_link() {
        WireClient client = greeted();
        client.ask(5, wire::Apply{own_plan("p1"), {}, false});
        EXPECT_EQ(std::get<wire::PlanSummary>(client.ask(6, wire::Follow{"p1"})).state,
                  PlanState::done);
    }
    WireClient subscribed() {
        WireClient client = greeted();
        client.send(5, wire::Subscribe{});
        return client;
    }
    /// The next event about drift.
    static std::vector<wire::DriftedObject> drift(WireClient& client) {
        for (;;) {
            const auto event = client.received();
            const auto* drift = std::get_if<wire::Drift>(&event.reply);
            if (drift != nullptr) return drift->objects;
        }
    }
    fs::path link() const { return scratch_.at("/etc/link"); }
    void is_told_until_it_is_watched(std::atomic<int>& fault, int error);
    const std::vector<wire::DriftedObject> gone_{
        {own_owner(), "link /etc/link to target", "absent"}};
};

TEST_F(ServiceChangesTest, ASubscriberLearnsOfDriftAndOfItsEnd) {
    apply_link();
    WireClient watching = subscribed();
    EXPECT_TRUE(drift(watching).empty());
    fs::remove(link());
    EXPECT_EQ(drift(watching), gone_);
    fs::create_symlink("target", link());
    EXPECT_TRUE(drift(watching).empty());
}

TEST_F(ServiceChangesTest, ALaterSubscriberLearnsOfPresentDrift) {
    apply_link();
    fs::remove(link());
    WireClient watching = subscribed();
    EXPECT_EQ(drift(watching), gone_);
    WireClient other = subscribed();
    EXPECT_EQ(drift(other), gone_);
}

TEST_F(ServiceChangesTest, ARepairIsAPlanThatEndsTheDrift) {
    apply_link();
    WireClient watching = subscribed();
    EXPECT_TRUE(drift(watching).empty());
    fs::remove(link());
    EXPECT_EQ(drift(watching), gone_);
    WireClient client = greeted();
    EXPECT_EQ(std::get<wire::Accepted>(client.ask(5, wire::Repair{"r1", own_owner()})).plan_id,
              "r1");
    const auto end = std::get<wire::PlanSummary>(client.ask(6, wire::Follow{"r1"}));
    EXPECT_EQ(end.state, PlanState::done);
    EXPECT_EQ(end.purpose, model::PlanPurpose::repair);
    EXPECT_TRUE(drift(watching).empty());
    EXPECT_EQ(fs::read_symlink(link()), "target");
}

TEST_F(ServiceChangesTest, DriftThatIsThereWhenAPlanEndsIsSentAgain) {
    apply_link();
    WireClient watching = subscribed();
    EXPECT_TRUE(drift(watching).empty());
    fs::remove(link());
    EXPECT_EQ(drift(watching), gone_);
    WireClient client = greeted();
    client.ask(5, wire::Apply{own_plan("p2", "/etc/other"), {}, false});
    EXPECT_EQ(drift(watching), gone_);
}

/// No event says that systemd answers again.
TEST_F(ServiceChangesTest, ACheckThatFailsIsMadeAgain) {
    apply_link();
    fs::remove(link());
    fake.when_first("Get", refusal("org.freedesktop.DBus.Error.NoReply"));
    WireClient watching = subscribed();
    EXPECT_EQ(drift(watching), gone_);
}

TEST_F(ServiceChangesTest, ASettingThatNobodyCanWatchIsComparedWhenTheProcessIsAwake) {
    const auto file = scratch_.at("/proc/sys/vm/overcommit_memory");
    fs::create_directories(file.parent_path());
    put(file, "0\n");
    engine.allow({.sysctls = {"vm.overcommit_memory"}});
    WireClient client = greeted();
    model::Plan plan = own_plan("p1");
    plan.steps = {model::Sysctl{"vm.overcommit_memory", "1"}};
    client.ask(5, wire::Apply{plan, {}, false});
    EXPECT_EQ(std::get<wire::PlanSummary>(client.ask(6, wire::Follow{"p1"})).state,
              PlanState::done);
    WireClient watching = subscribed();
    EXPECT_TRUE(drift(watching).empty());
    put(file, "0\n");
    loop_.post([this] { service_.on_wake_up(); });
    const auto found = drift(watching);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().object, "set vm.overcommit_memory to 1");
    EXPECT_EQ(found.front().found, "0");
}

/// Other programs of the host may have used up what the kernel has.
void ServiceChangesTest::is_told_until_it_is_watched(std::atomic<int>& fault, int error) {
    apply_link();
    fault = error;
    WireClient watching = subscribed();
    const auto told = drift(watching);
    fault = 0;
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].owner, "kubexm-executor");
    EXPECT_THAT(told[0].found, testing::HasSubstr("the kernel's limit fs.inotify.max_user"));
    EXPECT_TRUE(drift(watching).empty());
    fs::remove(link());
    EXPECT_EQ(drift(watching), gone_);
}

TEST_F(ServiceChangesTest, ADirectoryThatCannotBeWatchedIsTold) {
    is_told_until_it_is_watched(no_watch, ENOSPC);
}

TEST_F(ServiceChangesTest, PathsThatCannotBeWatchedAreTold) {
    is_told_until_it_is_watched(no_inotify, EMFILE);
}

TEST_F(ServiceChangesTest, WhatRootPermitsIsToldAgainAfterAReload) {
    WireClient watching = subscribed();
    loop_.post([this] { service_.allow({.clusters = {"api:6443"}, .registries = {}}); });
    for (;;) {
        const auto reply = watching.received().reply;
        const auto* changed = std::get_if<wire::PermitsChanged>(&reply);
        if (changed == nullptr) continue;
        const model::Permits now{model::Permit::listed, model::Permit::none};
        EXPECT_EQ(changed->permits, now);
        EXPECT_EQ(std::get<wire::Observation>(greeted().ask(5, wire::Observe{})).permits, now);
        return;
    }
}

TEST_F(ServiceChangesTest, NothingToRepairIsRefused) {
    apply_link();
    WireClient client = greeted();
    EXPECT_THAT(refusal_in(client.ask(5, wire::Repair{"r1", own_owner()})),
                StartsWith("not_found: "));
    fs::remove(link());
    EXPECT_THAT(refusal_in(client.ask(6, wire::Repair{"r2", "nobody"})), StartsWith("not_found: "));
    EXPECT_THAT(refusal_in(client.ask(7, wire::Repair{"p1", own_owner()})),
                StartsWith("conflict: "));
}

}  // namespace
}  // namespace kubexm::executor
