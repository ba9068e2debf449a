#include "daemon/kube/kubeconfig.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/base/base64.hpp"

namespace kubexm::kube {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kCa = base64("-----BEGIN CERTIFICATE-----\nca\n");

std::string kubeconfig(const std::string& cluster, const std::string& user) {
    return fmt::format(R"(apiVersion: v1
kind: Config
current-context: second
contexts:
- name: first
  context: {{cluster: elsewhere, user: nobody}}
- name: second
  context:
    cluster: home
    user: me
clusters:
- name: elsewhere
  cluster: {{server: "https://elsewhere:6443"}}
- name: home
  cluster: {{{}}}
users:
- name: nobody
  user: {{token: wrong}}
- name: me
  user: {{{}}}
)",
                       cluster, user);
}
const std::string kServer = "server: 'https://10.0.0.1:6443'";
const std::string kUser = "token: abcdef.0123456789abcdef";

std::string finding(const std::string& text) {
    const auto access = credentials_from_kubeconfig(text);
    if (access) return "";
    EXPECT_EQ(access.error().code, Code::invalid);
    return access.error().what;
}

TEST(Kubeconfig, ReadsTheCurrentContext) {
    const auto access = credentials_from_kubeconfig(kubeconfig(
        kServer + ", tls-server-name: kubernetes, certificate-authority-data: " + kCa, kUser));
    ASSERT_TRUE(access) << access.error().what;
    EXPECT_EQ(access->server, "https://10.0.0.1:6443");
    EXPECT_EQ(access->server_name, "kubernetes");
    EXPECT_EQ(access->ca, "-----BEGIN CERTIFICATE-----\nca\n");
    EXPECT_EQ(access->token.reveal(), "abcdef.0123456789abcdef");
    EXPECT_TRUE(access->certificate.empty() && access->key.empty());
}

TEST(Kubeconfig, ReadsAServerNameInAnyCaseAndRefusesWhatIsNone) {
    const auto access =
        credentials_from_kubeconfig(kubeconfig(kServer + ", tls-server-name: API.Example", kUser));
    ASSERT_TRUE(access) << access.error().what;
    EXPECT_EQ(access->server_name, "api.example");
    for (const char* name : {"a/b", "-a", "a..b", "a_b"}) {
        EXPECT_THAT(finding(kubeconfig(kServer + ", tls-server-name: " + name, kUser)),
                    HasSubstr("cluster.tls-server-name: expected a DNS name"));
    }
}

TEST(Kubeconfig, ReadsACertificateAndItsKey) {
    const auto access = credentials_from_kubeconfig(
        kubeconfig(kServer, "client-certificate-data: " + base64("certificate") +
                                ", client-key-data: " + base64("key")));
    ASSERT_TRUE(access) << access.error().what;
    EXPECT_EQ(access->certificate, "certificate");
    EXPECT_EQ(access->key.reveal(), "key");
    EXPECT_EQ(access->ca, "");
}

TEST(Kubeconfig, MayBeJson) {
    const auto access = credentials_from_kubeconfig(
        R"({"current-context":"c","contexts":[{"name":"c","context":{"cluster":"k","user":"u"}}],)"
        R"("clusters":[{"name":"k","cluster":{"server":"h:1","insecure-skip-tls-verify":false}}],)"
        R"("users":[{"name":"u","user":{"token":"t"}}]})");
    ASSERT_TRUE(access) << access.error().what;
    EXPECT_EQ(access->server, "https://h:1");
}

TEST(Kubeconfig, ReadsServersAsClientGoDoes) {
    const auto server = [](const std::string& text) {
        const auto access =
            credentials_from_kubeconfig(kubeconfig("server: '" + text + "'", kUser));
        return access ? access->server : access.error().what;
    };
    EXPECT_EQ(server("10.0.0.1:6443"), "https://10.0.0.1:6443");
    EXPECT_EQ(server("api.example"), "https://api.example:443");
    EXPECT_EQ(server("https://ABC.gr7.EKS.example"), "https://abc.gr7.eks.example:443");
    EXPECT_EQ(server("https://[fd00::1]:6443/"), "https://[fd00::1]:6443");
    EXPECT_EQ(server("https://rancher/k8s/clusters/c-1/"), "https://rancher:443/k8s/clusters/c-1");
    for (const char* bad : {"", "http://10.0.0.1:8080", "ftp://x", "https://user:pass@host",
                            "https://host?x", "https://host#x", "https://host:99999", "https://a b",
                            "https://", "file:///etc/passwd"}) {
        EXPECT_THAT(server(bad), HasSubstr("cluster.server: expected https://HOST")) << bad;
    }
}

TEST(Kubeconfig, RefusesUnsupportedFieldsByName) {
    for (const char* key : {"certificate-authority", "proxy-url", "insecure-skip-tls-verify"}) {
        EXPECT_THAT(finding(kubeconfig(fmt::format("{}, {}: quoted-value", kServer, key), kUser)),
                    HasSubstr(fmt::format("cluster.{}:", key)));
    }
    for (const char* key : {"client-certificate", "client-key", "tokenFile", "username", "password",
                            "exec", "auth-provider", "as", "as-uid", "as-groups"}) {
        const std::string what =
            finding(kubeconfig(kServer, fmt::format("{}: [quoted-value]", key)));
        EXPECT_THAT(what, HasSubstr(fmt::format("user.{}:", key)));
        EXPECT_THAT(what, Not(HasSubstr("quoted-value")));
    }
    EXPECT_EQ(finding(kubeconfig(kServer + ", insecure-skip-tls-verify: false, proxy-url: ''",
                                 kUser + ", username:")),
              "");
}

TEST(Kubeconfig, NeedsAnIdentity) {
    EXPECT_THAT(finding(kubeconfig(kServer, "")), HasSubstr("found neither"));
    EXPECT_THAT(finding(kubeconfig(kServer, "client-key-data: " + base64("key"))),
                HasSubstr("together"));
    EXPECT_THAT(finding(kubeconfig(kServer, "client-certificate-data: " + base64("c"))),
                HasSubstr("together"));
}

TEST(Kubeconfig, RefusesMalformedData) {
    const std::string what = finding(kubeconfig(kServer, "client-key-data: se!cret=="));
    EXPECT_THAT(what, HasSubstr("user.client-key-data: expected base64"));
    EXPECT_THAT(what, Not(HasSubstr("se!cret")));
    EXPECT_THAT(finding(kubeconfig(kServer + ", certificate-authority-data: [x]", kUser)),
                HasSubstr("cluster.certificate-authority-data: expected a text"));
}

TEST(Kubeconfig, RefusesMissingAndDuplicateNames) {
    std::string text = kubeconfig(kServer, kUser);
    EXPECT_THAT(finding(text + "- name: me\n  user: {token: x}\n"), HasSubstr("users: the name"));
    text.replace(text.find("current-context: second"), 23, "current-context: third ");
    EXPECT_THAT(finding(text), HasSubstr("contexts: the name in use is missing"));
    EXPECT_THAT(finding("current-context: a"), HasSubstr("contexts: expected a list"));
    EXPECT_THAT(finding("contexts: [{name: '', context: {cluster: x}}]"),
                HasSubstr("clusters: expected a list"));
    EXPECT_THAT(finding("current-context: [a]"), HasSubstr("expected a text"));
}

TEST(Kubeconfig, RefusesMalformedDocuments) {
    const std::vector<std::pair<std::string, const char*>> all{
        {"", "expected a mapping"},
        {"- a", "expected a mapping"},
        {"a: b\n---\nc: d", "line 2: expected one document"},
        {"a: &x b", "line 1: expected a value without an anchor"},
        {"a: *x", "line 1"},
        {"a: b\na: c", "line 2: duplicate key"},
        {"[a]: b", "expected a text as key"},
        {"token: \"secret", "not YAML"},
        {std::string(20, '[') + std::string(20, ']'), "nested deeper than 16"},
        {std::string(100'000, '['), "nested deeper than 16"},
        {"a: [" + std::string(10'000, ',') + "]", "line 1"},
        {std::string(std::size_t{300} * 1024, ' '), "at most 262144 bytes"},
        {std::string("a: \0b", 5), "expected UTF-8 text"},
        {"a: !!binary c2VjcmV0", "line 1: expected a value without a tag"},
    };
    for (const auto& [text, expected] : all) {
        EXPECT_THAT(finding(text), HasSubstr(expected)) << text.substr(0, 40);
        EXPECT_THAT(finding(text), Not(HasSubstr("secret")));
    }
}

}  // namespace
}  // namespace kubexm::kube
