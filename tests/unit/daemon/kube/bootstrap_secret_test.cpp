#include "daemon/kube/bootstrap_secret.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "daemon/base/base64.hpp"
#include "daemon/kube/kubelet_settings.hpp"

namespace kubexm::kube {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kManagement = "https://10.0.0.1:6443";

std::string kubeconfig_of(const std::string& server, const std::string& ca) {
    return "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
           "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
           "clusters: [{name: c, cluster: {server: '" +
           server + "'" + (ca.empty() ? "" : ", certificate-authority-data: " + base64(ca)) +
           "}}]\nusers: [{name: u, user: {token: abcdef.0123456789abcdef}}]\n";
}

json secret(const std::map<std::string, std::string>& data) {
    json encoded = json::object();
    for (const auto& [key, value] : data) encoded[key] = base64(value);
    return {{"data", encoded}};
}

Result<BootstrapMaterial> read(const std::map<std::string, std::string>& data) {
    return material_from_secret(secret(data), kManagement, "management's CA");
}

TEST(BootstrapSecret, PrefersItsOwnCaThenTheKubeconfigsThenTheManagements) {
    const std::string with = kubeconfig_of("https://10.0.0.9:6443", "kubeconfig's CA");
    const std::string without = kubeconfig_of(kManagement, "");
    EXPECT_EQ(read({{"bootstrap-kubeconfig", with}, {"ca.crt", "own CA"}})->credentials.ca,
              "own CA");
    EXPECT_EQ(read({{"bootstrap-kubeconfig", with}})->credentials.ca, "kubeconfig's CA");
    EXPECT_EQ(read({{"bootstrap-kubeconfig", without}})->credentials.ca, "management's CA");
}

TEST(BootstrapSecret, NeedsACa) {
    const auto material =
        read({{"bootstrap-kubeconfig", kubeconfig_of("https://10.0.0.9:6443", "")}});
    ASSERT_FALSE(material);
    EXPECT_EQ(material.error().code, Code::invalid);
    EXPECT_THAT(material.error().what, HasSubstr("10.0.0.9"));
    EXPECT_THAT(material.error().what, HasSubstr("data.ca.crt"));
}

TEST(BootstrapSecret, NamesTheWrongKeyAndNeverItsValue) {
    EXPECT_THAT(read({}).error().what, HasSubstr("data.bootstrap-kubeconfig is missing"));
    const auto garbage = read({{"bootstrap-kubeconfig", "token: abcdef.0123456789abcdef: ["}});
    ASSERT_FALSE(garbage);
    EXPECT_THAT(garbage.error().what, HasSubstr("data.bootstrap-kubeconfig"));
    EXPECT_THAT(garbage.error().what, Not(HasSubstr("abcdef")));
    EXPECT_FALSE(material_from_secret(json{{"data", {{"bootstrap-kubeconfig", "***"}}}}, "", ""));
}

TEST(KubeletSettings, AreReadFromTheConfiguration) {
    std::vector<std::string> notes;
    const auto settings = settings_from_kubelet_config(
        "kind: KubeletConfiguration\nclusterDNS: [10.68.0.2]\nclusterDomain: c.local\nmaxPods: 50\n"
        "cgroupDriver: cgroupfs\nfailSwapOn: false\nlogging: {text: {}}\nrotateCertificates: "
        "true\n",
        notes);
    ASSERT_TRUE(settings) << settings.error().what;
    EXPECT_THAT(settings->cluster_dns, ElementsAre("10.68.0.2"));
    EXPECT_EQ(settings->cluster_domain, "c.local");
    EXPECT_EQ(settings->max_pods, 50U);
    EXPECT_EQ(settings->cgroup_driver, model::CgroupDriver::cgroupfs);
    EXPECT_FALSE(settings->fail_swap_on);
    EXPECT_THAT(notes, ElementsAre(HasSubstr("logging")));
}

TEST(KubeletSettings, HaveDefaults) {
    std::vector<std::string> notes;
    const auto settings = settings_from_kubelet_config("", notes);
    ASSERT_TRUE(settings);
    EXPECT_THAT(settings->cluster_dns, ElementsAre("10.96.0.10"));
    EXPECT_THAT(notes, ElementsAre(HasSubstr("clusterDNS")));
}

TEST(KubeletSettings, NameTheWrongField) {
    for (const auto& [text, field] :
         std::map<std::string, std::string>{{"maxPods: many", "maxPods"},
                                            {"failSwapOn: perhaps", "failSwapOn"},
                                            {"clusterDNS: 10.0.0.1", "clusterDNS"},
                                            {"cgroupDriver: best", "cgroupDriver"}}) {
        std::vector<std::string> notes;
        const auto settings =
            settings_from_kubelet_config("kind: KubeletConfiguration\n" + text, notes);
        ASSERT_FALSE(settings) << text;
        EXPECT_THAT(settings.error().what, HasSubstr(field));
    }
}

}  // namespace
}  // namespace kubexm::kube
