#include <gtest/gtest.h>

#include "daemon/base/digest.hpp"
#include "engine_host.hpp"

namespace kubexm::executor {
namespace {

using model::RenderedFile;

constexpr const char* kFound = "kubelet.service is active";

/// A host with a kubelet that kubexm did not write.
class ForeignNode : public EngineHost {
protected:
    ForeignNode() {
        fake.when("GetAll", [](Peer& peer, sd_bus_message* call) {
            peer.reply(call, "a{sv}", 2, "ActiveState", "s", "active", "Job", "(uo)", 0U, "/");
        });
        fake.when("GetUnitFileState",
                  [](Peer& peer, sd_bus_message* call) { peer.reply(call, "s", "enabled"); });
        fake.when("Get", [](Peer& peer, sd_bus_message* call) {
            peer.reply(call, "v", "as", 1, "/etc/systemd/system");
        });
    }
    Result<> asked(const model::Step& step, const Caller& caller = kAgentCaller) {
        const std::vector<std::string> any{"/etc", "/var", "/run", "/opt"};
        engine.allow({.directories = {{"directory", any},
                                      {"absent-path", any},
                                      {"deleted-tree", any},
                                      {"claim", any},
                                      {"unmounted", any},
                                      {"symlink", any}},
                      .units = {"kubelet.service", "containerd.service", "kube-proxy.service"}});
        const char* const owner = caller.uid == 0 ? "roots" : "machine-1";
        return engine.acceptable({"p", owner, {step}, PlanPurpose::prepare}, {}, caller);
    }
};

TEST_F(ForeignNode, IsNotTakenOverByParts) {
    const model::UnitState stopped{.name = "kubelet.service", .active = false};
    for (const model::Step& step : std::vector<model::Step>{
             stopped, RenderedFile{model::Kubeconfig{.server = "https://api:6443"}},
             RenderedFile{model::KubeletConfiguration{
                 .minor = 34, .cluster_dns = {"10.96.0.10"}, .cluster_domain = "cluster.local"}},
             model::AbsentPath{model::kClusterCa}, model::AbsentPath{"/var/lib/kube-proxy"},
             model::Claim{"/var/lib/kubelet"}, model::Directory{"/etc/kubernetes"},
             model::DeletedTree{"/etc/kubernetes/manifests"},
             model::Symlink{"/var/lib/kubelet/pki/new", "/var/lib/kubelet/pki/old"},
             RenderedFile{model::ProxyDropIn{.service = model::ManagedService::kubelet,
                                             .http_proxy = "http://192.0.2.1:3128"}}}) {
        EXPECT_THAT(asked(step), IsError(Code::conflict, kFound)) << model::text_of(step);
    }
}

TEST_F(ForeignNode, KeepsItsRuntimeAndItsPods) {
    model::ContainerdConfiguration configuration{.version = 2};
    configuration.sandbox_image = "good.example/pause:3.9";
    for (const model::Step& step : std::vector<model::Step>{
             model::UnitState{.name = "containerd.service", .active = false},
             model::UnitState{.name = "containerd.service", .masked = true},
             RenderedFile{configuration},
             RenderedFile{model::ProxyDropIn{.service = model::ManagedService::containerd,
                                             .http_proxy = "http://192.0.2.1:3128"}},
             model::SideEffects{model::SideEffect::pods},
             model::SideEffects{model::SideEffect::links},
             model::Claim{"/run/containerd/io.containerd.runtime.v2.task/k8s.io"},
             model::Claim{.path = "/run/netns", .if_empty = {}, .prefix = "cni-"},
             model::Claim{"/var/log/pods"}, model::DeletedTree{"/var/lib/containerd/x"},
             model::Claim{"/var"}, model::DeletedTree{"/run"}, model::Unmounted{"/run"},
             model::Directory{"/etc/cni/net.d"}}) {
        EXPECT_THAT(asked(step), IsError(Code::conflict, kFound)) << model::text_of(step);
    }
}

TEST_F(ForeignNode, IsRoots) {
    EXPECT_THAT(asked(model::AbsentPath{"/etc/kubernetes/kubelet.conf"}, kRootCaller), IsOk());
}

/// It came after a plan of kubexmd.
TEST_F(ForeignNode, DoesNotKeepObjectsFromBeingGivenBack) {
    EXPECT_THAT(engine.undo_acceptable("u", "machine-1", kAgentCaller), IsOk());
}

TEST_F(ForeignNode, DoesNotStopWhatDoesNotConcernIt) {
    EXPECT_THAT(asked(model::UnitState{.name = "kube-proxy.service", .active = true}), IsOk());
    EXPECT_THAT(asked(model::Directory{"/var/log"}), IsOk());
    EXPECT_THAT(asked(model::Symlink{"/etc/link", "target"}), IsOk());
    EXPECT_THAT(asked(model::DeletedTree{"/etc/kubernetes2"}), IsOk());
}

}  // namespace
}  // namespace kubexm::executor
