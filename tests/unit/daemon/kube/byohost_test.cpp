#include "daemon/kube/byohost.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kubexm::kube {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// As the provider writes it with both patches of an attach.
json attached() {
    return json::parse(R"({
        "metadata": {"uid": "h", "resourceVersion": "7",
            "labels": {"cluster.x-k8s.io/cluster-name": "my-cluster"},
            "annotations": {"byoh.infrastructure.cluster.x-k8s.io/k8sversion": "v1.34.1",
                            "byoh.infrastructure.cluster.x-k8s.io/endpointip": "10.0.0.1:6443"}},
        "spec": {"joinMode": "tlsBootstrap", "labels": {"site": "a"},
            "taints": [{"key": "gpu", "effect": "NoExecute"}],
            "bootstrapSecret": {"kind": "Secret", "namespace": "default", "name": "m-tls-bootstrap"}},
        "status": {"machineRef": {"kind": "ByoMachine", "namespace": "default", "name": "m", "uid": "u1"},
            "conditions": [{"type": "Theirs", "status": "True", "lastTransitionTime": "t"}]}})");
}

TEST(ByoHost, IsReadAsTheProviderWritesIt) {
    const auto host = host_from_json(attached());
    EXPECT_EQ(host.cluster, "my-cluster");
    EXPECT_EQ(host.version, "v1.34.1");
    EXPECT_EQ(host.machine, (model::Reference{"default", "m", "u1"}));
    EXPECT_EQ(host.bootstrap_secret, (model::Reference{"default", "m-tls-bootstrap", ""}));
    EXPECT_THAT(host.labels, ElementsAre(model::Pair{"site", "a"}));
    EXPECT_EQ(host.taints.at(0).effect, model::TaintEffect::no_execute);
    EXPECT_FALSE(host.paused || host.release_asked);
}

TEST(ByoHost, TellsChangesOfOthersFromItsOwn) {
    const auto others = [](const char* patch) {
        json object = attached();
        object.merge_patch(json::parse(patch));
        return host_from_json(object).others;
    };
    const std::string before = others("{}");
    EXPECT_EQ(others(R"({"metadata": {"resourceVersion": "8", "managedFields": [{}]}})"), before);
    EXPECT_EQ(others(R"({"status": {"conditions": [], "network": []}})"), before);
    for (const char* theirs : {R"({"metadata": {"annotations": {"read": "again"}}})",
                               R"({"spec": {"labels": {"site": "b"}}})",
                               R"({"status": {"machineRef": {"uid": "u2"}}})"}) {
        EXPECT_NE(others(theirs), before) << theirs;
    }
}

TEST(ByoHost, AcceptsAnAnnotationWithoutAValue) {
    json object = attached();
    object["metadata"]["annotations"]["cluster.x-k8s.io/paused"] = "";
    object["metadata"]["annotations"]["byoh.infrastructure.cluster.x-k8s.io/unregistering"] = "";
    const auto host = host_from_json(object);
    EXPECT_TRUE(host.paused && host.release_asked);
}

TEST(ByoHost, AcceptsMissingAndMistypedFields) {
    for (const char* text :
         {"{}", "[]", "null", R"({"metadata": 1, "spec": [], "status": "x"})",
          R"({"spec": {"labels": 1, "taints": {}}, "status": {"conditions": 5}})"}) {
        EXPECT_EQ(host_from_json(json::parse(text)), model::HostRecord()) << text;
    }
}

TEST(ByoHost, RefusesAReferenceWithoutANameOrNamespace) {
    json object = attached();
    object["status"]["machineRef"].erase("name");
    const auto host = host_from_json(object);
    EXPECT_THAT(host.problem, HasSubstr("status.machineRef"));
    for (const char* uid : {"", "../../etc/passwd", "a b"}) {
        object = attached();
        object["status"]["machineRef"]["uid"] = uid;
        EXPECT_THAT(host_from_json(object).problem, HasSubstr("status.machineRef.uid")) << uid;
    }
}

TEST(ByoHost, ReportsAReleaseDespiteAProblem) {
    json object = attached();
    object["metadata"]["annotations"]["byoh.infrastructure.cluster.x-k8s.io/unregistering"] = "";
    object["spec"]["taints"][0]["effect"] = "Explode";
    const auto host = host_from_json(object);
    EXPECT_THAT(host.problem, HasSubstr("spec.taints[0].effect"));
    EXPECT_TRUE(host.release_asked);
    object["status"]["machineRef"] = {{"name", "m"}};
    EXPECT_TRUE(host_from_json(object).release_asked);
    EXPECT_EQ(host_from_json(attached()).problem, "");
}

TEST(ByoHost, KeepsConditionsOfOtherControllers) {
    const auto host = host_from_json(attached());
    const json patch = conditions_patch(host, {{.type = "Ours",
                                                .status = model::ConditionStatus::no,
                                                .severity = "Info",
                                                .reason = "Because",
                                                .message = "",
                                                .since = "now"}});
    EXPECT_EQ(patch["metadata"]["resourceVersion"], "7");
    ASSERT_EQ(patch["status"]["conditions"].size(), 2U);
    EXPECT_EQ(patch["status"]["conditions"][0]["type"], "Ours");
    EXPECT_EQ(patch["status"]["conditions"][0]["severity"], "Info");
    EXPECT_EQ(patch["status"]["conditions"][1]["type"], "Theirs");
    EXPECT_FALSE(patch["status"]["conditions"][1].contains("severity"));
}

TEST(ByoHost, IsCreatedWithCapacityLabels) {
    model::HostFacts facts;
    facts.name = "h1";
    facts.cpus = 8;
    facts.memory_bytes = 16ULL << 30U;
    const json object = new_host(facts);
    EXPECT_EQ(object["spec"]["capacity"], (json{{"cpu", "8"}, {"memory", "16777216Ki"}}));
    EXPECT_EQ(object["metadata"]["labels"],
              (json{{"capacity.infrastructure.cluster.x-k8s.io/cpu", "8"},
                    {"capacity.infrastructure.cluster.x-k8s.io/memory", "16777216Ki"}}));
}

TEST(ByoHost, HasTheFactsInItsStatus) {
    model::HostFacts facts;
    facts.os_image = "Debian";
    facts.architecture = "amd64";
    facts.interfaces = {{"eth0", "02:00:00:00:00:01", {"10.0.0.5/24"}, true, true}};
    const json status = facts_patch(facts)["status"];
    EXPECT_EQ(status["hostinfo"],
              (json{{"osname", "linux"}, {"osimage", "Debian"}, {"architecture", "amd64"}}));
    EXPECT_EQ(status["network"], json::array({{{"networkInterfaceName", "eth0"},
                                               {"macAddr", "02:00:00:00:00:01"},
                                               {"ipAddrs", {"10.0.0.5/24"}},
                                               {"connected", true},
                                               {"isDefault", true}}}));
}

TEST(ByoHost, IsFreedInTwoPatches) {
    const auto host = host_from_json(attached());
    const json status = released_status_patch(host, {});
    EXPECT_TRUE(status["status"].contains("machineRef"));
    EXPECT_TRUE(status["status"]["machineRef"].is_null());
    const json rest = released_patch(host);
    EXPECT_TRUE(rest["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"].is_null());
    EXPECT_TRUE(rest["spec"]["bootstrapSecret"].is_null());
    EXPECT_FALSE(
        rest["metadata"]["annotations"].contains("byohost.infrastructure.cluster.x-k8s.io/lease"))
        << "the lease is the manager's";
}

}  // namespace
}  // namespace kubexm::kube
