#include "daemon/kube/pod.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kubexm::kube {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

json pod_named(const std::string& namespace_, const std::string& name) {
    return {{"metadata", {{"namespace", namespace_}, {"name", name}, {"uid", "u-" + name}}}};
}

TEST(Pod, HasPathsBelowItsNamespace) {
    const auto pods = running_pods({{"items", json::array({pod_named("shop", "web-0")})}});
    ASSERT_THAT(pods, ElementsAre(PodRecord{"shop", "web-0", "u-web-0", false, true}));
    EXPECT_EQ(pod_path(pods[0]), "/api/v1/namespaces/shop/pods/web-0");
    EXPECT_EQ(eviction_path(pods[0]), "/api/v1/namespaces/shop/pods/web-0/eviction");
    EXPECT_EQ(eviction_of(pods[0])["deleteOptions"]["preconditions"]["uid"], "u-web-0");
    EXPECT_EQ(only_this_pod(pods[0])["preconditions"]["uid"], "u-web-0");
}

TEST(Pod, PagesAreAskedForByTheirTokens) {
    EXPECT_EQ(pods_path("h1", ""), "/api/v1/pods?fieldSelector=spec.nodeName%3Dh1&limit=30");
    EXPECT_EQ(pods_path("h1", "a=&b/c"),
              "/api/v1/pods?fieldSelector=spec.nodeName%3Dh1&limit=30&continue=a%3D%26b%2Fc");
    EXPECT_EQ(next_page({{"metadata", {{"continue", "token"}}}}), "token");
    EXPECT_EQ(next_page({{"items", json::array()}}), "");
}

TEST(Pod, OfAHostileServerNeverLeavesItsPath) {
    for (const char* name : {"", "../nodes", "a/b", "a?b", "A", "a b", "a%2fb"}) {
        EXPECT_THAT(running_pods({{"items", json::array({pod_named("shop", name)})}}), IsEmpty())
            << name;
        EXPECT_THAT(running_pods({{"items", json::array({pod_named(name, "web")})}}), IsEmpty())
            << name;
    }
    for (const json& list :
         {json(), json(7), json::array(), json{{"items", 7}}, json{{"items", {1, "x", nullptr}}}}) {
        EXPECT_THAT(running_pods(list), IsEmpty());
    }
}

}  // namespace
}  // namespace kubexm::kube
