#include "daemon/kube/kubeconfig.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/base/base64.hpp"
#include "daemon/base/grammar.hpp"
#include "daemon/base/try.hpp"
#include "daemon/kube/kubeconfig_yaml.hpp"
#include "daemon/kube/server_url.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

// Only embedded data is used: a file can change later, a program would run as kubexmd, and the
// others mean another identity or no verification.
constexpr std::array<std::string_view, 2> kRefusedOfCluster{"certificate-authority", "proxy-url"};
constexpr std::array<std::string_view, 11> kRefusedOfUser{
    "client-certificate", "client-key", "tokenFile", "exec",      "auth-provider", "username",
    "password",           "as",         "as-uid",    "as-groups", "as-user-extra"};

std::unexpected<Error> refused(std::string_view place, std::string_view what) {
    return fail(Code::invalid, fmt::format("kubeconfig: {}: {}", place, what));
}

bool is_absent(const json& value) {
    const auto* text = value.get_ptr<const std::string*>();
    return value.is_null() || (text != nullptr && text->empty());
}

/// A text; empty if it is missing.
Result<std::string> scalar_at(const json& object, std::string_view key, std::string_view place) {
    const auto member = object.find(std::string(key));
    if (member == object.end() || is_absent(*member)) return "";
    const auto* text = member->get_ptr<const std::string*>();
    if (text == nullptr) return refused(fmt::format("{}.{}", place, key), "expected a text");
    return *text;
}

Result<std::string> bytes_at(const json& object, std::string_view key, std::string_view place) {
    auto text = TRY(scalar_at(object, key, place));
    auto bytes = from_base64(text);
    wipe(text);
    if (!bytes) return refused(fmt::format("{}.{}", place, key), bytes.error().what);
    return bytes;
}

template <std::size_t kSize>
Result<> refuse_any(const json& object, const std::array<std::string_view, kSize>& keys,
                    std::string_view place) {
    for (const std::string_view key : keys) {
        const auto member = object.find(std::string(key));
        if (member == object.end() || is_absent(*member)) continue;
        return refused(fmt::format("{}.{}", place, key),
                       "is not supported; embed the data (kubectl config view --flatten)");
    }
    return {};
}

/// The object under `kind` of the only element of `list` with this name.
Result<const json*> named(const json& root, const char* list, const char* kind,
                          std::string_view name) {
    const json* found = nullptr;
    const auto elements = root.find(list);
    if (elements == root.end() || !elements->is_array()) return refused(list, "expected a list");
    for (const json& element : *elements) {
        const auto own = element.is_object() ? element.find("name") : element.end();
        if (own == element.end() || !own->is_string() || *own != name) continue;
        if (found != nullptr) return refused(list, "the name in use is a duplicate");
        found = &element;
    }
    if (found == nullptr) return refused(list, "the name in use is missing");
    const auto content = found->find(kind);
    if (content == found->end() || !content->is_object()) {
        return refused(list, fmt::format("expected a mapping {} in the entry in use", kind));
    }
    return &*content;
}

/// The entry of `list` that `key` of the context names.
Result<const json*> referenced(const json& root, const json& context, const char* list,
                               const char* key) {
    const auto name = TRY(scalar_at(context, key, "context"));
    if (name.empty()) return refused(fmt::format("context.{}", key), "is missing");
    return named(root, list, key, name);
}

Result<> read_cluster(const json& cluster, ClusterCredentials& credentials) {
    TRY(refuse_any(cluster, kRefusedOfCluster, "cluster"));
    auto insecure = scalar_at(cluster, "insecure-skip-tls-verify", "cluster");
    if (!insecure || (!insecure->empty() && *insecure != "false")) {
        return refused("cluster.insecure-skip-tls-verify",
                       "expected false: the server is always verified");
    }
    const auto server = TRY(scalar_at(cluster, "server", "cluster"));
    const auto url = read_server_url(server);
    if (!url) return refused("cluster.server", url.error().what);
    credentials.server = url->text();
    auto name = TRY(scalar_at(cluster, "tls-server-name", "cluster"));
    credentials.server_name = lower_case(std::move(name));
    if (!credentials.server_name.empty() && !is_dns_name(credentials.server_name)) {
        return refused("cluster.tls-server-name", fmt::format("expected {}", kDnsName.words));
    }
    credentials.ca = TRY(bytes_at(cluster, "certificate-authority-data", "cluster"));
    return {};
}

Result<> read_user(const json& user, ClusterCredentials& credentials) {
    TRY(refuse_any(user, kRefusedOfUser, "user"));
    auto token = TRY(scalar_at(user, "token", "user"));
    credentials.token = Secret(std::move(token));
    credentials.certificate = TRY(bytes_at(user, "client-certificate-data", "user"));
    auto key = TRY(bytes_at(user, "client-key-data", "user"));
    credentials.key = Secret(std::move(key));
    if (credentials.certificate.empty() != credentials.key.empty()) {
        return refused("user", "expected client-certificate-data and client-key-data together");
    }
    if (credentials.certificate.empty() && credentials.token.empty()) {
        return refused("user", "expected a token or a client certificate, found neither");
    }
    return {};
}

}  // namespace

Result<ClusterCredentials> credentials_from_kubeconfig(std::string_view yaml) {
    const auto root = json_from_yaml(yaml);
    if (!root) return during("kubeconfig", root.error());
    if (!root->is_object()) return refused("document", "expected a mapping");
    const auto current = TRY(scalar_at(*root, "current-context", "document"));
    const json* context = TRY(named(*root, "contexts", "context", current));
    const json* cluster = TRY(referenced(*root, *context, "clusters", "cluster"));
    const json* user = TRY(referenced(*root, *context, "users", "user"));
    ClusterCredentials credentials;
    TRY(read_cluster(*cluster, credentials));
    TRY(read_user(*user, credentials));
    return credentials;
}

}  // namespace kubexm::kube
