#include "daemon/kube/signing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "daemon/base/base64.hpp"
#include "daemon/kube/node.hpp"

namespace kubexm::kube {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(SigningRequest, HasTheFormOfTheApi) {
    const json object = to_json(SigningRequest{"n", "s", "PEM", {"client auth"}});
    EXPECT_EQ(object["spec"]["request"], base64("PEM"));
    EXPECT_EQ(object["spec"]["signerName"], "s");
    EXPECT_EQ(object["spec"]["usages"], json::array({"client auth"}));
    EXPECT_FALSE(object["spec"].contains("expirationSeconds"));
    const json short_lived =
        to_json(SigningRequest{"n", "s", "PEM", {"client auth"}, std::chrono::minutes(10)});
    EXPECT_EQ(short_lived["spec"]["expirationSeconds"], 600);
}

TEST(SigningRequest, IsReadBack) {
    const SigningRequest made{"n", "s", "PEM", {"client auth", "digital signature"}, {}};
    const SigningRequest read = signing_request_from_json(to_json(made));
    EXPECT_EQ(read.name, "n");
    EXPECT_EQ(read.signer, "s");
    EXPECT_EQ(read.request, "PEM");
    EXPECT_EQ(read.usages, made.usages);
    for (const char* wrong : {"{}", "7", R"({"spec": {"usages": 7, "request": "%"}})"}) {
        EXPECT_EQ(signing_request_from_json(json::parse(wrong)).request, "") << wrong;
    }
    EXPECT_THAT(signing_request_from_json(json{{"spec", {{"usages", {1, "a"}}}}}).usages,
                testing::ElementsAre("", "a"));
}

TEST(SigningRequest, IsIssuedDeniedOrPending) {
    EXPECT_EQ(issued_certificate(json::object()).value(), "");
    EXPECT_EQ(issued_certificate(json{{"status", {{"certificate", base64("PEM")}}}}).value(),
              "PEM");
    const json denied{{"metadata", {{"name", "csr-1"}}},
                      {"status",
                       {{"conditions", {{{"type", "Denied"}, {"message", "not \n you"}}}},
                        {"certificate", base64("PEM")}}}};
    const auto outcome = issued_certificate(denied);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::denied);
    EXPECT_THAT(outcome.error().what, HasSubstr("csr-1"));
    EXPECT_THAT(outcome.error().what, HasSubstr("not \\n you"));
}

TEST(Node, IsReadyByItsCondition) {
    const json ready = json::parse(
        R"({"spec": {"providerID": "byoh://h1"},
            "status": {"nodeInfo": {"machineID": "m"},
                       "conditions": [{"type": "MemoryPressure", "status": "True"},
                                      {"type": "Ready", "status": "True"}]}})");
    EXPECT_EQ(node_from_json(ready).ready, model::ConditionStatus::yes);
    EXPECT_EQ(node_from_json(ready).machine_id, "m");
    EXPECT_EQ(node_from_json(json::object()).ready, model::ConditionStatus::unknown);
    EXPECT_EQ(node_from_json(json::parse(R"({"status": {"conditions": {}}})")).ready,
              model::ConditionStatus::unknown);
}

TEST(Node, OfAReleasedHostIsNotReady) {
    const json node = json::parse(
        R"({"metadata": {"resourceVersion": "7"},
            "status": {"conditions": [{"type": "MemoryPressure", "status": "False"},
                                      {"type": "Ready", "status": "True"}]}})");
    const json patch = left_node_patch(node, "2026-01-31T12:00:00Z");
    EXPECT_EQ(patch["metadata"]["resourceVersion"], "7");
    ASSERT_EQ(patch["status"]["conditions"].size(), 2U);
    EXPECT_EQ(node_from_json(patch).ready, model::ConditionStatus::no);
    EXPECT_EQ(patch["status"]["conditions"][1], node["status"]["conditions"][0]);
    EXPECT_EQ(left_node_patch(json(), "t")["status"]["conditions"].size(), 1U);
}

}  // namespace
}  // namespace kubexm::kube
