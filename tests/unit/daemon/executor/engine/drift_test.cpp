#include "daemon/executor/engine/drift.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/digest.hpp"
#include "daemon/base/io.hpp"
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
                      .units = {"kube-proxy.service"},
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
    EXPECT_EQ(refusal(), "not_found: owner machine-1: no drift; nothing to repair");
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
    apply({model::UnitState{"kube-proxy.service", true, true, std::nullopt, ""}});
    EXPECT_THAT(drift(), IsEmpty());
    const std::string object = "enable and start kube-proxy.service";
    unit_is("inactive", "enabled");
    EXPECT_THAT(drift(), ElementsAre(Drifted{"machine-1", object, "inactive, enabled"}));
    unit_is("inactive", "enabled", kJob);
    EXPECT_THAT(drift(), IsEmpty());
    unit_is("active", "disabled");
    EXPECT_THAT(drift(), ElementsAre(Drifted{"machine-1", object, "active, disabled"}));
    unit_is("active", "masked");
    EXPECT_THAT(drift(), ElementsAre(Drifted{"machine-1", object, "active, masked"}));
    unit_is("active", "masked-runtime");
    EXPECT_THAT(drift(), ElementsAre(Drifted{"machine-1", object, "active, masked-runtime"}));
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

/// A host with a component that a plan of root has placed.
class ComponentDrift : public DriftTest {
protected:
    ComponentDrift() {
        fs::create_directories(scratch_.at("/opt/kubexm"));
        engine.allow(
            {.components = {"kubelet"}, .digests = {{"kubelet/v1/bin/kubelet", sha256(kProgram)}}});
        const model::Plan plan{"p1",
                               "host",
                               {model::ComponentVersion{
                                   "kubelet", "v1", {{"bin/kubelet", sha256(kProgram), {0755}}}}}};
        std::vector<Content> contents(1);
        contents[0].digest = sha256(kProgram);
        contents[0].bytes = *memory_file(kProgram);
        auto record = engine.accept(plan, contents, kRootCaller);
        EXPECT_THAT(record, IsOk());
        EXPECT_THAT(carried_out(*record), IsState(PlanState::done));
    }
    std::vector<std::string> found() {
        std::vector<std::string> texts;
        for (const Drifted& each : drift()) texts.push_back(each.found);
        return texts;
    }
    fs::path program() const { return scratch_.at(kPath); }

    static constexpr const char* kProgram = "the program";
    static constexpr const char* kPath = "/opt/kubexm/kubelet/v1/bin/kubelet";
};

TEST_F(ComponentDrift, IsNoneAfterThePlan) { EXPECT_THAT(found(), IsEmpty()); }

TEST_F(ComponentDrift, AReplacedProgramHasOtherContent) {
    EXPECT_THAT(found(), IsEmpty());
    put(scratch_.at("/etc/new"), "a program");  // of the same size
    fs::permissions(scratch_.at("/etc/new"), fs::perms{0755});
    fs::rename(scratch_.at("/etc/new"), program());
    EXPECT_THAT(found(), ElementsAre(std::string(kPath) + " has other content"));
}

TEST_F(ComponentDrift, AChangedProgramHasOtherContent) {
    EXPECT_THAT(found(), IsEmpty());
    put(program(), "a program");
    EXPECT_THAT(found(), ElementsAre(std::string(kPath) + " has other content"));
}

TEST_F(ComponentDrift, AnotherModeDiffers) {
    fs::permissions(program(), fs::perms{0700});
    EXPECT_THAT(found(), ElementsAre(std::string(kPath) + " has other attributes"));
}

TEST_F(ComponentDrift, AProgramThatIsGoneIsNamed) {
    fs::remove(program());
    EXPECT_THAT(found(), ElementsAre(std::string(kPath) + " is absent"));
    fs::create_directory(program());
    EXPECT_THAT(found(), ElementsAre(std::string(kPath) + " is no regular file"));
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

TEST_F(DriftTest, OfOwnersWhoLeaveIsNone) {
    put(scratch_.at("/etc/link"), "somebody's");
    apply({model::Symlink{"/etc/link", "target"}});
    fs::remove(state() + "/content/" + sha256("somebody's"));
    auto undo = engine.accept_undo("u1", "machine-1", kAgentCaller);
    ASSERT_THAT(undo, IsOk());
    ASSERT_THAT(carried_out(*undo), IsState(PlanState::failed));
    fs::remove(scratch_.at("/etc/link"));
    EXPECT_THAT(drift(), IsEmpty());
}

// --- one object that cannot be repaired, and others that can

/// A node with a link and with kubelet, which runs.
class RepairOfSeveral : public DriftTest {
protected:
    RepairOfSeveral() {
        fake.when("Get", [](Peer& peer, sd_bus_message* call) {
            const char* interface = nullptr;
            const char* name = nullptr;
            ::sd_bus_message_rewind(call, 1);
            ASSERT_GT(::sd_bus_message_read(call, "ss", &interface, &name), 0);
            if (std::string_view(name) == "SystemState") {
                return peer.reply(call, "v", "s", "running");
            }
            peer.reply(call, "v", "as", 1, "/etc/systemd/system");
        });
        for (const char* verb : {"StartUnit", "RestartUnit"}) {
            fake.when(verb, job_that_ends("done"));
        }
        fs::create_directories(scratch_.at("/var/lib/kubelet"));
        fs::create_directories(scratch_.at("/etc/modules-load.d"));
        unit_is("active", "enabled");
        permit({"overlay"});
        EXPECT_THAT(
            applied({"p1",
                     "machine-1",
                     {modules_, configuration_, model::Symlink{"/etc/link", "target"},
                      model::UnitState{"kubelet.service", true, true, std::nullopt, "key"}}}),
            IsState(PlanState::done))
            << engine.plan("p1")->last_error;
    }
    void permit(const std::vector<std::string>& modules) {
        engine.allow({.directories = {{"symlink", {"/etc"}}},
                      .units = {"kubelet.service"},
                      .modules = modules,
                      .ignored_checks = {"kubelet-active", "kubelet-enabled"}});
    }
    void remove_link() const { fs::remove(scratch_.at("/etc/link")); }
    bool has_link() const { return fs::is_symlink(scratch_.at("/etc/link")); }
    /// Nothing replaces a directory that is not empty.
    void block(const std::string& file) const {
        fs::remove_all(scratch_.at(file));
        fs::create_directories(scratch_.at(file + "/in"));
    }
    void stop_kubelet() {
        unit_is("inactive", "enabled");
        fake.when("StartUnit", [this](Peer& peer, sd_bus_message* call) {
            unit_is("active", "enabled");
            job_that_ends("done")(peer, call);
        });
    }
    /// The state that a repair ends in.
    Result<PlanState> repair(const std::string& id) {
        auto record = engine.accept_repair(id, "machine-1", kAgentCaller);
        if (!record) return std::unexpected(record.error());
        return carried_out(*record);
    }
    bool calls(const std::string& verb) {
        return std::ranges::any_of(fake.calls(), [&](const std::string& call) {
            return call.starts_with(verb + "(kubelet.service");
        });
    }
    std::string found_of(const std::string& object) {
        for (const Drifted& each : drift()) {
            if (each.object.find(object) != std::string::npos) return each.found;
        }
        return "";
    }

    static constexpr const char* kModules = "/etc/modules-load.d/kubexm.conf";
    static constexpr const char* kConfiguration = "/var/lib/kubelet/config.yaml";
    const model::Step modules_ = model::RenderedFile{model::ModulesFile{{"overlay"}}};
    const model::Step configuration_ = model::RenderedFile{model::KubeletConfiguration{
        .minor = 34, .cluster_dns = {"10.96.0.10"}, .cluster_domain = "cluster.local"}};
};

TEST_F(RepairOfSeveral, LeavesOutAFileWithoutContent) {
    const std::string digest = sha256(content_of(scratch_.at(kModules)));
    fs::remove(scratch_.at(kModules));
    fs::remove(state() + "/content/" + digest);
    remove_link();
    EXPECT_THAT(found_of("kubexm.conf"), testing::HasSubstr("absent; cannot be repaired: "));
    EXPECT_THAT(found_of("kubexm.conf"), testing::HasSubstr("its content is not kept"));
    EXPECT_EQ(found_of("/etc/link"), "absent");
    EXPECT_THAT(repair("r1"), IsState(PlanState::done));
    EXPECT_TRUE(has_link());
    EXPECT_THAT(repair("r2"), IsError(Code::conflict, "its content is not kept"));
}

TEST_F(RepairOfSeveral, HasTheContentOfAFileWhoseChangeFailed) {
    const std::string before = content_of(scratch_.at(kModules));
    permit({"overlay", "br_netfilter"});
    block(kModules);
    const model::ModulesFile more{{"overlay", "br_netfilter"}};
    EXPECT_THAT(applied({"p2", "machine-1", {model::RenderedFile{more}}}),
                IsState(PlanState::failed));
    fs::remove_all(scratch_.at(kModules));
    EXPECT_THAT(repair("r1"), IsState(PlanState::done));
    EXPECT_EQ(content_of(scratch_.at(kModules)), before);
}

TEST_F(RepairOfSeveral, LeavesOutWhatIsNotPermittedAnyMore) {
    permit({});
    fs::remove(scratch_.at(kModules));
    remove_link();
    stop_kubelet();
    EXPECT_THAT(found_of("kubexm.conf"), testing::HasSubstr("not in allow.modules"));
    EXPECT_THAT(repair("r1"), IsState(PlanState::done));
    EXPECT_TRUE(has_link());
    EXPECT_TRUE(calls("StartUnit"));
}

TEST_F(RepairOfSeveral, GoesOnAfterAFailure) {
    block(kModules);
    remove_link();
    stop_kubelet();
    EXPECT_THAT(repair("r1"), IsState(PlanState::failed));
    EXPECT_TRUE(has_link());
    EXPECT_TRUE(calls("StartUnit")) << "kubelet does not stay down";
    EXPECT_THAT(engine.plan("r1")->last_error, testing::HasSubstr(kModules));
    EXPECT_THAT(found_of("kubexm.conf"), testing::HasSubstr("; the last repair failed: "));
}

/// Else somebody's file would keep kubelet down for an hour.
TEST_F(RepairOfSeveral, IsNotLimitedWhileItRepairsSomething) {
    block(kModules);
    for (int i = 0; i < 5; ++i) {
        remove_link();
        EXPECT_THAT(repair(fmt::format("r{}", i)), IsState(PlanState::failed));
        EXPECT_TRUE(has_link());
    }
    for (int i = 5; i < 8; ++i) {
        EXPECT_THAT(repair(fmt::format("r{}", i)), IsState(PlanState::failed));
    }
    EXPECT_THAT(repair("r8"), IsError(Code::conflict, "retry limit"));
    remove_link();
    EXPECT_THAT(repair("r9"), IsState(PlanState::failed));
    EXPECT_TRUE(has_link());
}

TEST_F(RepairOfSeveral, DoesNotRestartAUnitForAFileThatItCannotPutBack) {
    const auto restarts = [&] {
        return std::ranges::count_if(fake.calls(), [](const std::string& call) {
            return call.starts_with("RestartUnit(kubelet.service");
        });
    };
    const auto before = restarts();
    block(kConfiguration);
    EXPECT_THAT(repair("r1"), IsState(PlanState::failed));
    EXPECT_EQ(restarts(), before);
    EXPECT_THAT(engine.plan("r1")->steps.back().error, testing::HasSubstr("waits for file"));
    stop_kubelet();
    EXPECT_THAT(repair("r2"), IsState(PlanState::failed));
    EXPECT_TRUE(calls("StartUnit")) << "one that is down is started";
}

TEST_F(RepairOfSeveral, DoesNotNeedToKnowTheStateOfAll) {
    fake.when("GetAll", executor::refusal("org.freedesktop.DBus.Error.NoReply"));
    remove_link();
    const auto report = engine.drift();
    ASSERT_THAT(report, IsOk());
    EXPECT_TRUE(report->problem);
    EXPECT_THAT(report->objects,
                ElementsAre(Drifted{"machine-1", "link /etc/link to target", "absent"}));
    EXPECT_THAT(repair("r1"), IsState(PlanState::done));
    EXPECT_TRUE(has_link());
}

}  // namespace
}  // namespace kubexm::executor
