// A node of ours on a host whose journal root has discarded.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/executor/render/documents.hpp"
#include "daemon/executor/render/render.hpp"
#include "engine_host.hpp"

namespace kubexm::executor {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kKubeletFile = "/etc/systemd/system/kubelet.service";
const std::string kSysctlFile = "/etc/sysctl.d/99-kubexm.conf";
const std::string kOurs = fmt::format("# {}\n", kNotice);

class LostNode : public EngineHost {
protected:
    LostNode() {
        fs::create_directories(scratch_.at("/etc/systemd/system"));
        fs::create_directories(scratch_.at("/etc/sysctl.d"));
        fs::create_symlink("x", scratch_.at("/etc/link"));
        engine.allow({.directories = {{"symlink", {"/etc"}}},
                      .units = {"kubelet.service"},
                      .sysctls = {"kernel.panic"},
                      .ignored_checks = {"kubelet-drop-in"}});
        fake.when("GetAll", [](Peer& peer, sd_bus_message* call) {
            peer.reply(call, "a{sv}", 2, "LoadState", "s", "loaded", "ActiveState", "s", "active");
        });
        fake.when("GetUnitFileState",
                  [](Peer& peer, sd_bus_message* call) { peer.reply(call, "s", "enabled"); });
        fake.when("StopUnit", job_that_ends("done"));
    }
    void SetUp() override {
        if (!is_root()) GTEST_SKIP() << "files of root";
    }
    void join_and_release() {
        EXPECT_THAT(
            applied(
                {"p",
                 "node",
                 {settings_, model::Symlink{"/etc/link", "x"},
                  model::RenderedFile{
                      model::KubeletService{.node_name = "n1", .provider_id = "byoh://n1"}, {}},
                  model::UnitState{.name = "kubelet.service", .enabled = true, .active = true}}},
                kRootCaller),
            IsState(PlanState::done));
        EXPECT_THAT(carried_out(*engine.accept_undo("u", "node", kRootCaller)),
                    IsState(PlanState::undone));
    }
    std::string at(const std::string& path) const { return scratch_.at(path); }

    const model::RenderedFile settings_{model::SysctlFile{{{"kernel.panic", "10"}}}, {}};
};

TEST_F(LostNode, IsGivenBackAsIfItHadNotBeenThere) {
    put(at(kKubeletFile), kOurs + "by another version\n");
    put(at(kSysctlFile), kOurs + "by another version\n");
    join_and_release();
    EXPECT_THAT(names_in(at("/etc/systemd/system")), IsEmpty());
    EXPECT_THAT(names_in(at("/etc/sysctl.d")), IsEmpty());
    EXPECT_FALSE(fs::is_symlink(at("/etc/link")));
    EXPECT_THAT(fake.calls(), Contains("StopUnit(kubelet.service, replace)"));
}

/// Somebody may have changed a file of ours, which stayed therefore.
TEST_F(LostNode, IsNoneWhereKubeletsUnitIsNotOurs) {
    put(at(kKubeletFile), "theirs\n");
    put(at(kSysctlFile), kOurs + "theirs\n");
    join_and_release();
    EXPECT_EQ(content_of(at(kKubeletFile)), "theirs\n");
    EXPECT_EQ(content_of(at(kSysctlFile)), kOurs + "theirs\n");
    EXPECT_TRUE(fs::is_symlink(at("/etc/link")));
    EXPECT_THAT(fake.calls(), Not(Contains(HasSubstr("StopUnit"))));
}

TEST_F(LostNode, IsNotNeededForAFileThatIsAsWeWriteIt) {
    put(at(kSysctlFile), render(settings_.document)->content);
    join_and_release();
    EXPECT_THAT(names_in(at("/etc/sysctl.d")), IsEmpty());
    EXPECT_TRUE(fs::is_symlink(at("/etc/link")));
}

}  // namespace
}  // namespace kubexm::executor
