#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../host/path_units.hpp"
#include "../host/systemd_test.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

const std::string kPod = "/var/lib/kubelet/pods/0c5ad5e6-3a0e-4c3b-9c53-3d8f0a1b2c3d";
const std::string kStaticPod = "/var/lib/kubelet/pods/0123456789abcdef0123456789abcdef";

/// Directories are real, systemd is a fake.
class Claims : public SystemdTest {
protected:
    Claims() { have_units(fake, "Where", {}); }
    Context context() {
        Context made{root_, systemd, vault_, soon(), {}};
        made.runtime_answers = [this](auto) { return runtime_; };
        made.others = others_;
        made.has_lost_node = has_lost_node_;
        return made;
    }
    fs::path at(const std::string& path) const { return scratch_.at(path); }

    /// The result of an undo after `meanwhile` ran between capture and undo.
    template <typename Step, typename Meanwhile>
    std::string undone_after(const Step& step, Meanwhile meanwhile) {
        Context working = context();
        auto before = capture(working, step);
        EXPECT_THAT(before, IsOk());
        meanwhile();
        auto stays = undo(working, step, *before);
        EXPECT_THAT(stays, IsOk());
        return stays.value_or("");
    }

    Result<bool> runtime_ = false;
    bool has_lost_node_ = false;
    std::vector<std::string> others_;
    Scratch scratch_;
    Root root_ = scratch_.root();
    Vault vault_ = Vault::open(scratch_.top() / "vault").value();
};

TEST_F(Claims, RemoveNewFilesLinksAndTrees) {
    fs::create_directories(at("/var/lib/kubelet/theirs"));
    undone_after(model::Claim{"/var/lib/kubelet"}, [&] {
        put(at("/var/lib/kubelet/cpu_manager_state"), "new");
        fs::create_symlink("theirs", at("/var/lib/kubelet/plugins"));
        fs::create_directories(at(kPod));
        put(at("/var/lib/kubelet/theirs/file"), "below a directory that existed");
    });
    EXPECT_TRUE(fs::exists(at("/var/lib/kubelet/theirs/file")));
    EXPECT_EQ(std::distance(fs::directory_iterator(at("/var/lib/kubelet")), {}), 1);
}

TEST_F(Claims, MayBeMadeWhereThereIsNoParentYet) {
    undone_after(model::Claim{"/run/containerd/tasks"},
                 [&] { fs::create_directories(at("/run/containerd/tasks/one")); });
    EXPECT_TRUE(fs::exists(at("/run/containerd")));
    EXPECT_FALSE(fs::exists(at("/run/containerd/tasks")));
}

TEST_F(Claims, KeepAndNameWhatAnotherOwnerHasInTheLedger) {
    fs::create_directories(at("/var/lib/kubelet"));
    others_ = {"/var/lib/kubelet/roots/deep/file", "/var/lib/kubelet/file", "/var/lib/kubelet/p"};
    EXPECT_EQ(undone_after(model::Claim{"/var/lib/kubelet"},
                           [&] {
                               fs::create_directories(at("/var/lib/kubelet/roots/deep"));
                               fs::create_directories(at(kPod));
                               put(at("/var/lib/kubelet/roots/deep/file"), "root's");
                               put(at("/var/lib/kubelet/file"), "root's");
                           }),
              "/var/lib/kubelet stays with file, roots: not made by pods");
    EXPECT_TRUE(fs::exists(at("/var/lib/kubelet/roots/deep/file")));
    EXPECT_TRUE(fs::exists(at("/var/lib/kubelet/file")));
    EXPECT_FALSE(fs::exists(at("/var/lib/kubelet/pods"))) << "its name only begins as theirs does";
}

TEST_F(Claims, KeepADirectoryThatAnotherOwnerHas) {
    others_ = {"/run/containerd/s"};
    for (const std::optional<bool> if_empty : {std::optional<bool>(), std::optional(true)}) {
        EXPECT_EQ(undone_after(model::Claim{"/run/containerd/s", if_empty},
                               [&] { fs::create_directories(at("/run/containerd/s")); }),
                  "/run/containerd/s stays: another owner has it");
        EXPECT_TRUE(fs::remove(at("/run/containerd/s")));
    }
}

/// Its own names are known.
TEST_F(Claims, KeepAndNameWhatKubeletDidNotMake) {
    EXPECT_EQ(undone_after(model::Claim{"/var/lib/kubelet"},
                           [&] {
                               for (const char* made : {"checkpoints", "image_manager", "plugins",
                                                        "plugins_registry/driver", "pki", "theirs",
                                                        "pods/theirs", "plugins/driver"}) {
                                   fs::create_directories(at("/var/lib/kubelet") / made);
                               }
                               fs::create_directories(at(kPod + "/volumes"));
                               fs::create_directories(at(kStaticPod));
                               put(at("/var/lib/kubelet/memory_manager_state"), "kubelet's");
                               put(at("/var/lib/kubelet/pki/kubelet.crt"), "kubelet's");
                               put(at("/var/lib/kubelet/pki/backup.pem"), "theirs");
                               put(at("/var/lib/kubelet/note.txt"), "theirs");
                               put(at("/var/lib/kubelet/pods/file"), "theirs");
                           }),
              "/var/lib/kubelet stays with note.txt, pki/backup.pem, pods/file, pods/theirs, "
              "theirs: not made by pods");
    EXPECT_EQ(names_in(at("/var/lib/kubelet")),
              (std::set<std::string>{"note.txt", "pki", "pods", "theirs"}));
    EXPECT_EQ(names_in(at("/var/lib/kubelet/pods")), (std::set<std::string>{"file", "theirs"}));
    EXPECT_EQ(names_in(at("/var/lib/kubelet/pki")), std::set<std::string>{"backup.pem"});
}

TEST_F(Claims, KeepAndNameWhatIsNoLogOfAPod) {
    const std::string uid = "0c5ad5e6-3a0e-4c3b-9c53-3d8f0a1b2c3d";
    EXPECT_EQ(undone_after(model::Claim{"/var/log/pods"},
                           [&] {
                               fs::create_directories(at("/var/log/pods/default_web_" + uid));
                               fs::create_directories(at("/var/log/pods/default_web_x" + uid));
                               put(at("/var/log/pods/theirs.gz"), "");
                           }),
              "/var/log/pods stays with default_web_x" + uid + ", theirs.gz: not made by pods");
    EXPECT_EQ(
        undone_after(
            model::Claim{"/var/log/containers"},
            [&] {
                fs::create_directories(at("/var/log/containers"));
                put(at("/var/log/containers/web_default_web-" + std::string(64, 'a') + ".log"), "");
                put(at("/var/log/containers/web_default_web-a.log"), "");
                put(at("/var/log/containers/all\xff"), "");
            }),
        "/var/log/containers stays with all\\xff, web_default_web-a.log: not made by pods");
}

TEST_F(Claims, KeepInADirectoryThatWasThereWhatWasAddedToIt) {
    fs::create_directories(at("/var/lib/kubelet/pods"));
    EXPECT_EQ(undone_after(model::Claim{"/var/lib/kubelet"},
                           [&] { put(at("/var/lib/kubelet/pods/theirs"), ""); }),
              "");
    EXPECT_TRUE(fs::exists(at("/var/lib/kubelet/pods/theirs")));
}

/// kubelet writes nothing there: what is new is somebody's.
TEST_F(Claims, KeepAndNameWhatIsNewInDirectoriesOfOthers) {
    fs::create_directories(at("/etc/kubernetes/pki"));
    fs::create_directories(at("/usr/libexec"));
    EXPECT_EQ(undone_after(model::Claim{"/etc/kubernetes"},
                           [&] {
                               put(at("/etc/kubernetes/admin.conf"), "theirs");
                               fs::create_directories(at("/etc/kubernetes/encryption"));
                           }),
              "/etc/kubernetes stays with admin.conf, encryption: not made by pods");
    EXPECT_EQ(undone_after(model::Claim{"/etc/kubernetes/pki"},
                           [&] { put(at("/etc/kubernetes/pki/sa.key"), "theirs"); }),
              "/etc/kubernetes/pki stays with sa.key: not made by pods");
    EXPECT_EQ(undone_after(model::Claim{"/usr/libexec"},
                           [&] { fs::create_directories(at("/usr/libexec/kubernetes/tool")); }),
              "/usr/libexec stays with kubernetes: not made by pods");
    EXPECT_TRUE(fs::exists(at("/etc/kubernetes/admin.conf")));
    EXPECT_TRUE(fs::exists(at("/etc/kubernetes/encryption")));
    EXPECT_TRUE(fs::exists(at("/etc/kubernetes/pki/sa.key")));
    EXPECT_TRUE(fs::exists(at("/usr/libexec/kubernetes/tool")));
}

TEST_F(Claims, RemoveTheEmptyDirectoriesThatKubeletMakesForPlugins) {
    const model::Claim step{"/usr/libexec/kubernetes"};
    const std::string plugins = "/usr/libexec/kubernetes/kubelet-plugins/volume/exec";
    fs::create_directories(at("/usr/libexec"));
    EXPECT_EQ(undone_after(step, [&] { fs::create_directories(at(plugins)); }), "");
    EXPECT_FALSE(fs::exists(at("/usr/libexec/kubernetes")));
    EXPECT_EQ(undone_after(step,
                           [&] {
                               fs::create_directories(at(plugins));
                               put(at("/usr/libexec/kubernetes/kubelet-plugins/volume/theirs"), "");
                           }),
              "/usr/libexec/kubernetes stays with kubelet-plugins: not made by pods");
    EXPECT_EQ(names_in(at("/usr/libexec/kubernetes/kubelet-plugins/volume")),
              std::set<std::string>{"theirs"});
    fs::create_directories(at(plugins));
    EXPECT_EQ(undone_after(step, [] {}), "");
    EXPECT_TRUE(fs::exists(at(plugins))) << "it was there before";
}

TEST_F(Claims, LeaveALinkAmongTheDirectoriesForPlugins) {
    fs::create_directories(at("/usr/libexec/kubernetes"));
    fs::create_directories(at("/disk/volume/exec"));
    EXPECT_EQ(
        undone_after(
            model::Claim{"/usr/libexec/kubernetes"},
            [&] { fs::create_symlink("/disk", at("/usr/libexec/kubernetes/kubelet-plugins")); }),
        "/usr/libexec/kubernetes stays with kubelet-plugins: not made by pods");
    EXPECT_TRUE(fs::exists(at("/disk/volume/exec")));
}

/// Mounts of pods and of others below claimed directories.
class ClaimsWithMounts : public Claims {
protected:
    std::string undone_with(const model::Claim& step, const std::vector<ListedUnit>& before,
                            const std::vector<ListedUnit>& now) {
        have_units(fake, "Where", before);
        return undone_after(step, [&] {
            have_units(fake, "Where", now);
            for (const ListedUnit& mount : now) fs::create_directories(at(mount.path));
        });
    }
    std::vector<std::string> stopped() {
        auto calls = fake.calls();
        std::erase_if(calls, [](const std::string& call) { return !call.starts_with("StopUnit"); });
        return calls;
    }
    static ListedUnit mount(const std::string& unit, const std::string& path) {
        return {.unit = unit, .path = path};
    }
};

TEST_F(ClaimsWithMounts, EndOnlyThoseOfPods) {
    fs::create_directories(at("/var/lib/kubelet/theirs"));
    const auto theirs = mount("var-lib-kubelet-theirs.mount", "/var/lib/kubelet/theirs");
    const auto inside = mount("var-lib-kubelet-theirs-a-b.mount", "/var/lib/kubelet/theirs/a/b");
    const auto pods = mount("var-lib-kubelet-pods-1-v.mount", kPod + "/volumes/v");
    const auto stays = undone_with({"/var/lib/kubelet"}, {theirs, inside}, {theirs, inside, pods});
    EXPECT_EQ(stays, "");
    EXPECT_THAT(stopped(), ElementsAre("StopUnit(var-lib-kubelet-pods-1-v.mount, replace)"));
    EXPECT_TRUE(fs::exists(at("/var/lib/kubelet/theirs/a/b")));
    EXPECT_FALSE(fs::exists(at("/var/lib/kubelet/pods")));
}

TEST_F(ClaimsWithMounts, NameOneThatSomebodyMadeMeanwhile) {
    const auto theirs = mount("var-lib-kubelet-data.mount", "/var/lib/kubelet/data");
    const auto pods = mount("var-lib-kubelet-pods-1-v.mount", kPod + "/volumes/v");
    EXPECT_EQ(undone_with({"/var/lib/kubelet"}, {}, {theirs, pods}),
              "/var/lib/kubelet stays with data: not made by pods");
    EXPECT_THAT(stopped(), ElementsAre("StopUnit(var-lib-kubelet-pods-1-v.mount, replace)"));
    EXPECT_TRUE(fs::exists(at("/var/lib/kubelet/data")));
    EXPECT_FALSE(fs::exists(at("/var/lib/kubelet/pods")));
}

/// Mounted by hand, without a unit file.
TEST_F(ClaimsWithMounts, NameOneThatIsDeepButWherePodsHaveNone) {
    const std::vector<ListedUnit> now{
        mount("var-lib-kubelet-data-a-b.mount", "/var/lib/kubelet/data/a/b"),
        mount("var-lib-kubelet-podsx-a.mount", "/var/lib/kubelet/podsx/a"),
        mount("var-lib-kubelet-plugins-1-v.mount", "/var/lib/kubelet/plugins/kubernetes.io/v"),
        mount("var-lib-kubelet-pods-1-v.mount", kPod + "/volumes/v")};
    EXPECT_EQ(undone_with({"/var/lib/kubelet"}, {}, now),
              "/var/lib/kubelet stays with data, podsx: not made by pods");
    EXPECT_THAT(stopped(), ElementsAre("StopUnit(var-lib-kubelet-pods-1-v.mount, replace)",
                                       "StopUnit(var-lib-kubelet-plugins-1-v.mount, replace)"));
    EXPECT_TRUE(fs::exists(at("/var/lib/kubelet/data/a/b")));
    EXPECT_EQ(
        undone_with({"/var/log/pods"}, {}, {mount("var-log-pods-a-b.mount", "/var/log/pods/a/b")}),
        "/var/log/pods stays with a: not made by pods");
}

/// What it made before root discarded the journal is not of somebody else.
TEST_F(ClaimsWithMounts, EndThoseOfANodeThatTheLedgerDoesNotKnow) {
    has_lost_node_ = true;
    fs::create_directories(at(kPod + "/volumes/v"));
    put(at("/var/lib/kubelet/cpu_manager_state"), "ours");
    put(at("/var/lib/kubelet/note.txt"), "theirs");
    const auto pods = mount("var-lib-kubelet-v.mount", kPod + "/volumes/v");
    EXPECT_EQ(undone_with({"/var/lib/kubelet"}, {pods}, {pods}), "");
    EXPECT_THAT(stopped(), ElementsAre("StopUnit(var-lib-kubelet-v.mount, replace)"));
    EXPECT_EQ(names_in(at("/var/lib/kubelet")), std::set<std::string>{"note.txt"});
}

/// Where pods have mounts, too, but not there.
TEST_F(ClaimsWithMounts, NameOneThatIsNotInTheLayoutOfAPod) {
    const std::vector<ListedUnit> now{
        mount("var-lib-kubelet-a.mount", "/var/lib/kubelet/pods/theirs/a"),
        mount("var-lib-kubelet-b.mount", kPod + "/b"),
        mount("var-lib-kubelet-c.mount", "/var/lib/kubelet/plugins/theirs/c"),
        mount("var-lib-kubelet-v.mount", kStaticPod + "/volume-subpaths/v/web/0"),
        mount("var-lib-kubelet-w.mount", kPod + "/volumes/w")};
    EXPECT_EQ(undone_with({"/var/lib/kubelet"}, {}, now),
              "/var/lib/kubelet stays with plugins/theirs/c, " + kPod.substr(17) +
                  "/b, pods/theirs: not made by pods");
    EXPECT_THAT(stopped(), UnorderedElementsAre("StopUnit(var-lib-kubelet-v.mount, replace)",
                                                "StopUnit(var-lib-kubelet-w.mount, replace)"));
    EXPECT_TRUE(fs::exists(at("/var/lib/kubelet/pods/theirs/a")));
    EXPECT_EQ(names_in(at(kPod)), std::set<std::string>{"b"}) << "the rest of the pod goes";
    EXPECT_FALSE(fs::exists(at(kStaticPod)));
    EXPECT_TRUE(fs::exists(at("/var/lib/kubelet/plugins/theirs/c")));
}

TEST_F(ClaimsWithMounts, EndThoseOfContainers) {
    const std::string tasks = "/run/containerd/io.containerd.runtime.v2.task/k8s.io";
    const std::string unit = "run-containerd-io.containerd.runtime.v2.task-k8s.io-1-rootfs.mount";
    EXPECT_EQ(undone_with({tasks}, {}, {mount(unit, tasks + "/1/rootfs")}), "");
    EXPECT_THAT(stopped(), ElementsAre("StopUnit(" + unit + ", replace)"));
    EXPECT_FALSE(fs::exists(at(tasks)));
}

TEST_F(ClaimsWithMounts, KeepOneOfAUnitFileHoweverDeep) {
    auto listed = mount("var-lib-kubelet-plugins-data.mount", "/var/lib/kubelet/plugins/data");
    listed.fragment = "/run/systemd/generator/var-lib-kubelet-plugins-data.mount";
    const auto pods = mount("var-lib-kubelet-pods-1-v.mount", kPod + "/volumes/v");
    EXPECT_EQ(undone_with({"/var/lib/kubelet"}, {}, {listed, pods}),
              "/var/lib/kubelet stays with plugins/data: not made by pods");
    EXPECT_THAT(stopped(), ElementsAre("StopUnit(var-lib-kubelet-pods-1-v.mount, replace)"));
    EXPECT_TRUE(fs::exists(at("/var/lib/kubelet/plugins/data")));
}

TEST_F(ClaimsWithMounts, AreEndedAndRemovedByPrefix) {
    const auto blue = mount("run-netns-blue.mount", "/run/netns/blue");
    const auto green = mount("run-netns-green.mount", "/run/netns/green");
    const auto pods = mount("run-netns-cni.mount", "/run/netns/cni-1");
    fs::create_directories(at("/run/netns/blue"));
    const model::Claim step{.path = "/run/netns", .if_empty = {}, .prefix = "cni-"};
    EXPECT_EQ(undone_with(step, {blue}, {blue, green, pods}),
              "/run/netns stays with green: not made by pods");
    EXPECT_THAT(stopped(), ElementsAre("StopUnit(run-netns-cni.mount, replace)"));
    EXPECT_TRUE(fs::exists(at("/run/netns/blue")));
    EXPECT_TRUE(fs::exists(at("/run/netns/green")));
    EXPECT_FALSE(fs::exists(at("/run/netns/cni-1")));
}

/// Podman before version 4 names its namespaces as containerd does.
TEST_F(ClaimsWithMounts, OfARuntimeThatAnswersAreTheirsWhoUseThePrefix) {
    const auto theirs = mount("run-netns-cni.mount", "/run/netns/cni-1");
    const model::Claim step{.path = "/run/netns", .if_empty = {}, .prefix = "cni-"};
    runtime_ = true;
    EXPECT_EQ(undone_with(step, {}, {theirs}), "/run/netns stays with cni-1: not made by pods");
    EXPECT_THAT(stopped(), IsEmpty());
    EXPECT_TRUE(fs::exists(at("/run/netns/cni-1")));
}

TEST_F(ClaimsWithMounts, WaitForARuntimeThatStarts) {
    Context working = context();
    const model::Claim step{.path = "/run/netns", .if_empty = {}, .prefix = "cni-"};
    fs::create_directories(at("/run/netns"));
    const auto before = capture(working, step);
    runtime_ = fail(Code::unavailable, "starts");
    EXPECT_THAT(undo(working, step, *before), IsError(Code::unavailable, "starts"));
}

/// The others and their entries go nevertheless.
TEST_F(ClaimsWithMounts, NameOneThatSomebodyUses) {
    const std::string busy = "var-lib-kubelet-pods-1-v.mount";
    const std::vector<ListedUnit> now{
        mount(busy, kPod + "/volumes/v"),
        mount("var-lib-kubelet-plugins-1-v.mount", "/var/lib/kubelet/plugins/kubernetes.io/v")};
    Context working = context();
    const model::Claim step{"/var/lib/kubelet"};
    const auto before = capture(working, step);
    ASSERT_THAT(before, IsOk());
    have_units(fake, "Where", now);
    for (const ListedUnit& mount : now) fs::create_directories(at(mount.path));
    fake.when("LoadUnit", [](Peer& peer, sd_bus_message* call) { peer.reply(call, "o", "/u/0"); });
    fake.when("StopUnit", [busy](Peer& peer, sd_bus_message* call) {
        const char* unit = "";
        sd_bus_message_rewind(call, 1);
        sd_bus_message_read(call, "s", &unit);
        peer.reply(call, "o", kJob);
        peer.end_job(kJob, unit == busy ? "failed" : "done");
    });
    EXPECT_THAT(undo(working, step, *before),
                IsError(Code::unavailable, "mount " + kPod + "/volumes/v: StopUnit " + busy));
    EXPECT_TRUE(fs::exists(at(kPod + "/volumes/v")));
    EXPECT_FALSE(fs::exists(at("/var/lib/kubelet/plugins")));
}

TEST_F(ClaimsWithMounts, NameAFewOfMany) {
    std::vector<ListedUnit> many;
    for (char name = 'a'; name <= 'j'; ++name) {
        many.push_back(mount(std::string("m-") + name + ".mount", std::string("/m/") + name));
    }
    EXPECT_EQ(undone_with({"/m"}, {}, many),
              "/m stays with a, b, c, d, e, f, g, h and 2 others: not made by pods");
}

/// On a path that was not a directory before.
class ClaimsOnForeignPaths : public Claims,
                             public testing::WithParamInterface<std::optional<bool>> {
protected:
    ClaimsOnForeignPaths() {
        fs::create_directory(at("/disk"));
        put(at("/disk/theirs"), "theirs");
    }
    std::string undone_after_a_new_file_in_the_target() {
        return undone_after(step_, [&] { put(at("/disk/new"), "new"); });
    }
    const model::Claim step_{"/claimed", GetParam()};
};

TEST_P(ClaimsOnForeignPaths, KeepALinkAndItsTarget) {
    fs::create_symlink("disk", at("/claimed"));
    EXPECT_THAT(undone_after_a_new_file_in_the_target(),
                HasSubstr("/claimed stays with its content"));
    EXPECT_EQ(fs::read_symlink(at("/claimed")), "disk");
    EXPECT_EQ(names_in(at("/disk")), (std::set<std::string>{"new", "theirs"}));
}

TEST_P(ClaimsOnForeignPaths, KeepAFileAndANamedPipe) {
    put(at("/claimed"), "theirs");
    EXPECT_THAT(undone_after_a_new_file_in_the_target(),
                HasSubstr("before the plan file, now file"));
    EXPECT_EQ(content_of(at("/claimed")), "theirs");
    fs::remove(at("/claimed"));
    ASSERT_EQ(::mkfifo(at("/claimed").c_str(), 0600), 0);
    EXPECT_THAT(undone_after_a_new_file_in_the_target(), HasSubstr("before the plan other"));
    EXPECT_TRUE(fs::is_fifo(at("/claimed")));
}

TEST_P(ClaimsOnForeignPaths, KeepALinkThatReplacedADirectory) {
    fs::create_directory(at("/claimed"));
    const auto move_to_disk = [&] {
        fs::remove(at("/claimed"));
        fs::create_symlink("disk", at("/claimed"));
    };
    EXPECT_THAT(undone_after(step_, move_to_disk),
                HasSubstr("before the plan directory, now symlink"));
    EXPECT_TRUE(fs::exists(at("/disk/theirs")));
}

TEST_P(ClaimsOnForeignPaths, RemoveANewLinkButNotItsTarget) {
    EXPECT_EQ(undone_after(step_, [&] { fs::create_symlink("disk", at("/claimed")); }), "");
    EXPECT_FALSE(fs::is_symlink(at("/claimed")));
    EXPECT_TRUE(fs::exists(at("/disk/theirs")));
}

INSTANTIATE_TEST_SUITE_P(WholeAndIfEmpty, ClaimsOnForeignPaths,
                         testing::Values(std::nullopt, std::optional(true)));

class Groups : public Claims {
protected:
    Groups() {
        fs::create_directories(at("/sys/fs/cgroup/cpuset"));
        fs::create_directory_symlink("cpuset", at("/sys/fs/cgroup/cpu"));
        fake.when("StopUnit", job_that_ends("done"));
    }
    const model::SideEffects step_{model::SideEffect::cgroups};
};

TEST_F(Groups, OfPodsAreStoppedOuterOnesFirst) {
    undone_after(step_, [&] {
        have_units(fake, "", {{"kubepods-pod1.slice", "", ""}, {"kubepods.slice", "", ""}});
    });
    const auto calls = fake.calls_of_interest();
    EXPECT_THAT(calls, Contains("StopUnit(kubepods.slice, replace)"));
    EXPECT_EQ(calls.back(), "StopUnit(kubepods-pod1.slice, replace)");
}

TEST_F(Groups, ThatExistedBeforeStay) {
    have_units(fake, "", {{"kubepods.slice", "", ""}});
    fs::create_directories(at("/sys/fs/cgroup/cpuset/kubepods"));
    undone_after(step_, [] {});
    EXPECT_THAT(fake.calls_of_interest(), Not(Contains(HasSubstr("StopUnit"))));
    EXPECT_THAT(fake.calls_of_interest(), Not(Contains(HasSubstr("StartTransientUnit"))));
}

TEST_F(Groups, WithoutAUnitAreRemovedByPidOne) {
    fake.when("StartTransientUnit", refusal(SD_BUS_ERROR_ACCESS_DENIED));
    Context working = context();
    auto before = capture(working, step_);
    fs::create_directories(at("/sys/fs/cgroup/cpuset/kubepods.slice/deep"));
    EXPECT_THAT(undo(working, step_, *before), IsError(Code::denied, "kubexm-groups.service"));
    EXPECT_THAT(fake.calls_of_interest(), Contains(HasSubstr("StartTransientUnit")));
}

}  // namespace
}  // namespace kubexm::executor
