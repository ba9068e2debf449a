#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../host/path_units.hpp"
#include "../host/systemd_test.hpp"
#include "daemon/executor/steps/side_effects.hpp"

namespace kubexm::executor {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

/// Control groups that kubelet made itself (cgroupDriver: cgroupfs), with processes in them.
class PodGroups : public SystemdTest {
protected:
    PodGroups() {
        have_units(fake, "", {});
        fs::create_directories(group_);
        put_processes();
        fake.when("GetAll", [](Peer& peer, sd_bus_message* call) {
            peer.reply(call, "a{sv}", 2, "Result", "s", "success", "ExecMainCode", "i", CLD_EXITED);
        });
    }

    void put_processes() const { std::ofstream(group_ / "cgroup.procs") << "42\n43\n"; }
    void end_processes() const { std::ofstream(group_ / "cgroup.procs") << ""; }

    Result<std::string> remove() {
        Context context{root_, systemd, vault_, soon(), {}};
        return side_effects::remove_groups(context, {});
    }

    /// Without the listing of units and what is read of them.
    std::vector<std::string> changes() {
        auto calls = fake.calls_of_interest();
        std::erase_if(calls, [](const std::string& call) {
            return !call.starts_with("St");  // StartTransientUnit, StopUnit
        });
        return calls;
    }

    Scratch scratch_;
    fs::path group_ = scratch_.at("/sys/fs/cgroup/kubepods/besteffort/pod1/c1");
    Root root_ = scratch_.root();
    Vault vault_ = Vault::open(scratch_.top() / "vault").value();
};

TEST_F(PodGroups, AreStoppedAsOneScopeBeforeTheyAreRemoved) {
    fake.when_first("StopUnit", refusal("org.freedesktop.systemd1.NoSuchUnit"));
    fake.when("StopUnit", [this](Peer& peer, sd_bus_message* call) {
        end_processes();
        job_that_ends("done")(peer, call);
    });
    EXPECT_THAT(remove(), IsOk());
    EXPECT_THAT(
        changes(),
        ElementsAre("StopUnit(kubexm-pods.scope, replace)",
                    StartsWith("StartTransientUnit(kubexm-pods.scope, fail, [(PIDs, [42, 43])"),
                    "StopUnit(kubexm-pods.scope, replace)",
                    StartsWith("StartTransientUnit(kubexm-groups.service, fail, ")));
}

TEST_F(PodGroups, OfAnInterruptedUndoAreInTheScopeAlready) {
    end_processes();
    EXPECT_THAT(remove(), IsOk());
    EXPECT_THAT(changes(), ElementsAre("StopUnit(kubexm-pods.scope, replace)",
                                       StartsWith("StartTransientUnit(kubexm-groups.service")));
}

TEST_F(PodGroups, AProcessThatEndsMeanwhileIsNoError) {
    fake.when("StopUnit", refusal("org.freedesktop.systemd1.NoSuchUnit"));
    fake.when_first("StartTransientUnit", [this](Peer& peer, sd_bus_message* call) {
        end_processes();
        peer.refuse(call, "org.freedesktop.DBus.Error.UnixProcessIdUnknown", "no such process");
    });
    EXPECT_THAT(remove(), IsOk());
}

}  // namespace
}  // namespace kubexm::executor
