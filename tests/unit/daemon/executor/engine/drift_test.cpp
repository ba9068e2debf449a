#include "daemon/executor/engine/drift.hpp"

#include "daemon/base/digest.hpp"
#include "engine_host.hpp"

namespace kubexm::executor {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A host where a plan was applied for "machine-1".
class DriftTest : public EngineHost {
protected:
    void apply(const std::vector<model::Step>& steps) {
        engine.allow({.directories = {{"symlink", {"/etc"}}, {"managed-block", {"/etc"}}},
                      .units = {"kubelet.service"},
                      .sysctls = {"vm.overcommit_memory"}});
        EXPECT_THAT(applied({"p1", "machine-1", steps}), IsState(PlanState::done))
            << engine.plan("p1")->last_error;
    }
    std::vector<Drifted> drift() {
        auto report = engine.drift();
        EXPECT_THAT(report, IsOk());
        if (!report) return {};
        EXPECT_TRUE(report->decided);
        return report->objects;
    }
    std::string refusal() {
        auto record = engine.accept_repair("r1", "machine-1", kAgentCaller);
        return record ? "" : std::string(name_of(record.error().code)) + ": " + record.error().what;
    }
    void unit_is(const std::string& active, const std::string& enablement,
                 const std::string& job = "/") {
        fake.when("GetAll", [=](Peer& peer, sd_bus_message* call) {
            peer.reply(call, "a{sv}", 2, "ActiveState", "s", active.c_str(), "Job", "(uo)", 7U,
                       job.c_str());
        });
        fake.when("GetUnitFileState", [=](Peer& peer, sd_bus_message* call) {
            peer.reply(call, "s", enablement.c_str());
        });
    }
};

TEST_F(DriftTest, NothingDiffersAfterAPlan) {
    apply({model::Symlink{"/etc/link", "target"}});
    EXPECT_THAT(drift(), IsEmpty());
    EXPECT_EQ(refusal(), "not_found: owner machine-1: nothing differs");
}

TEST_F(DriftTest, ReportsAndRepairsAnObjectOfEveryOwner) {
    apply({model::Symlink{"/etc/link", "target"}});
    EXPECT_THAT(applied({"p2", "machine-2", {model::Symlink{"/etc/link", "target"}}}),
                IsState(PlanState::done));
    fs::remove(scratch_.at("/etc/link"));
    const std::string object = "link /etc/link to target";
    EXPECT_THAT(drift(), ElementsAre(Drifted{"machine-1", object, "absent"},
                                     Drifted{"machine-2", object, "absent"}));
    auto record = engine.accept_repair("r1", "machine-1", kAgentCaller);
    ASSERT_THAT(record, IsOk());
    EXPECT_EQ(record->purpose, PlanPurpose::repair);
    EXPECT_THAT(carried_out(*record), IsState(PlanState::done));
    EXPECT_EQ(fs::read_symlink(scratch_.at("/etc/link")), "target");
    EXPECT_THAT(drift(), IsEmpty());
}

TEST_F(DriftTest, NamesTheWatchedPaths) {
    apply({model::Symlink{"/etc/link", "target"}});
    EXPECT_THAT(engine.drift()->paths, testing::Contains("/etc/link"));
}

TEST_F(DriftTest, IsUndecidedDuringAShutdown) {
    apply({model::Symlink{"/etc/link", "target"}});
    fs::remove(scratch_.at("/etc/link"));
    fake.when("Get",
              [](Peer& peer, sd_bus_message* call) { peer.reply(call, "v", "s", "stopping"); });
    EXPECT_FALSE(engine.drift()->decided);
    EXPECT_THAT(engine.drift()->objects, IsEmpty());
    EXPECT_THAT(refusal(), testing::StartsWith("unavailable: repair: the host shuts down"));
}

TEST_F(DriftTest, IsUndecidedWhileAPlanRuns) {
    apply({model::Symlink{"/etc/link", "target"}});
    fs::remove(scratch_.at("/etc/link"));
    ASSERT_THAT(engine.accept(link_plan("p2", "/etc/other"), {}, kAgentCaller), IsOk());
    EXPECT_FALSE(engine.drift()->decided);
}

TEST_F(DriftTest, AUnitDiffersUnlessAJobRuns) {
    unit_is("active", "enabled");
    apply({model::UnitState{"kubelet.service", true, true, std::nullopt, ""}});
    EXPECT_THAT(drift(), IsEmpty());
    const std::string object = "enable and start kubelet.service";
    unit_is("inactive", "enabled");
    EXPECT_THAT(drift(), ElementsAre(Drifted{"machine-1", object, "inactive, enabled"}));
    unit_is("inactive", "enabled", kJob);
    EXPECT_THAT(drift(), IsEmpty());
    unit_is("active", "disabled");
    EXPECT_THAT(drift(), ElementsAre(Drifted{"machine-1", object, "active, disabled"}));
    unit_is("active", "masked");
    EXPECT_THAT(drift(), ElementsAre(Drifted{"machine-1", object, "active, masked"}));
    for (const char* on_its_way : {"activating", "deactivating", "reloading"}) {
        unit_is(on_its_way, "enabled");
        EXPECT_THAT(drift(), IsEmpty()) << on_its_way;
    }
}

TEST_F(DriftTest, AKernelParameterDiffers) {
    const auto file = scratch_.at("/proc/sys/vm/overcommit_memory");
    fs::create_directories(file.parent_path());
    put(file, "0\n");
    apply({model::Sysctl{"vm.overcommit_memory", "1"}});
    EXPECT_THAT(drift(), IsEmpty());
    put(file, "0\n");
    EXPECT_THAT(drift(), ElementsAre(Drifted{"machine-1", "set vm.overcommit_memory to 1", "0"}));
}

TEST_F(DriftTest, ARenderedFileIsRepairedWithTheBytesThatWereWritten) {
    fs::create_directories(scratch_.at("/etc/modules-load.d"));
    engine.allow({.modules = {"overlay"}});
    EXPECT_THAT(
        applied({"p1", "machine-1", {model::RenderedFile{model::ModulesFile{{"overlay"}}}}}),
        IsState(PlanState::done));
    const auto file = scratch_.at("/etc/modules-load.d/kubexm.conf");
    const std::string written = content_of(file);
    put(file, "other");
    auto record = engine.accept_repair("r1", "machine-1", kAgentCaller);
    ASSERT_THAT(record, IsOk());
    EXPECT_THAT(record->document, testing::HasSubstr(sha256(written)));
    EXPECT_THAT(carried_out(*record), IsState(PlanState::done));
    EXPECT_EQ(content_of(file), written);
}

TEST_F(DriftTest, AClientGivesNoContentOfARenderedFile) {
    engine.allow({.modules = {"overlay"}});
    const model::RenderedFile file{model::ModulesFile{{"overlay"}},
                                   model::WrittenFile{std::string(64, 'a')}};
    EXPECT_THAT(applied({"p1", "machine-1", {file}}),
                IsError(Code::denied, "only repairs have it"));
    EXPECT_THAT(applied({"p2", "machine-1", {}, PlanPurpose::repair}),
                IsError(Code::invalid, "send repair"));
}

}  // namespace
}  // namespace kubexm::executor
