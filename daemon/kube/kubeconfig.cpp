#include "daemon/kube/kubeconfig.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/base/base64.hpp"
#include "daemon/kube/server_url.hpp"
#include "daemon/kube/yaml.hpp"

namespace kubexm::kube {

namespace {

using nlohmann::json;

// Files may change behind us, programs run as us, and the rest is another identity or no
// verification: only what is embedded is used.
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

/// A text; empty where it is not there.
Result<std::string> scalar_at(const json& object, std::string_view key, std::string_view place) {
    const auto member = object.find(std::string(key));
    if (member == object.end() || is_absent(*member)) return "";
    const auto* text = member->get_ptr<const std::string*>();
    if (text == nullptr) return refused(fmt::format("{}.{}", place, key), "expected a text");
    return *text;
}

Result<std::string> bytes_at(const json& object, std::string_view key, std::string_view place) {
    auto text = scalar_at(object, key, place);
    if (!text) return text;
    auto bytes = from_base64(*text);
    wipe(*text);
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
                       "is not used here; embed the data (kubectl config view --flatten)");
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
        if (found != nullptr) return refused(list, "the name in use is there twice");
        found = &element;
    }
    if (found == nullptr) return refused(list, "the name in use is not there");
    const auto content = found->find(kind);
    if (content == found->end() || !content->is_object()) {
        return refused(list, fmt::format("expected the mapping {} in the one in use", kind));
    }
    return &*content;
}

/// What `key` of the context names in `list`.
Result<const json*> referenced(const json& root, const json& context, const char* list,
                               const char* key) {
    auto name = scalar_at(context, key, "context");
    if (!name) return std::unexpected(name.error());
    if (name->empty()) return refused(fmt::format("context.{}", key), "is missing");
    return named(root, list, key, *name);
}

Result<> read_cluster(const json& cluster, ClusterCredentials& access) {
    if (auto checked = refuse_any(cluster, kRefusedOfCluster, "cluster"); !checked) return checked;
    auto insecure = scalar_at(cluster, "insecure-skip-tls-verify", "cluster");
    if (!insecure || (!insecure->empty() && *insecure != "false")) {
        return refused("cluster.insecure-skip-tls-verify", "the server is always verified");
    }
    auto server = scalar_at(cluster, "server", "cluster");
    if (!server) return std::unexpected(server.error());
    auto url = read_server_url(*server);
    if (!url) return refused("cluster.server", url.error().what);
    access.server = url->text();
    auto name = scalar_at(cluster, "tls-server-name", "cluster");
    if (!name) return std::unexpected(name.error());
    access.server_name = std::move(*name);
    auto ca = bytes_at(cluster, "certificate-authority-data", "cluster");
    if (!ca) return std::unexpected(ca.error());
    access.ca = std::move(*ca);
    return {};
}

Result<> read_user(const json& user, ClusterCredentials& access) {
    if (auto checked = refuse_any(user, kRefusedOfUser, "user"); !checked) return checked;
    auto token = scalar_at(user, "token", "user");
    if (!token) return std::unexpected(token.error());
    access.token = Secret(std::move(*token));
    auto certificate = bytes_at(user, "client-certificate-data", "user");
    if (!certificate) return std::unexpected(certificate.error());
    access.certificate = std::move(*certificate);
    auto key = bytes_at(user, "client-key-data", "user");
    if (!key) return std::unexpected(key.error());
    access.key = Secret(std::move(*key));
    if (access.certificate.empty() != access.key.empty()) {
        return refused("user", "expected client-certificate-data and client-key-data together");
    }
    if (access.certificate.empty() && access.token.empty()) {
        return refused("user", "expected a token or a client certificate, found neither");
    }
    return {};
}

}  // namespace

Result<ClusterCredentials> access_from_kubeconfig(std::string_view yaml) {
    const auto root = json_from_yaml(yaml);
    if (!root) return during("kubeconfig", root.error());
    if (!root->is_object()) return refused("document", "expected a mapping");
    const auto current = scalar_at(*root, "current-context", "document");
    if (!current) return std::unexpected(current.error());
    const auto context = named(*root, "contexts", "context", *current);
    if (!context) return std::unexpected(context.error());
    const auto cluster = referenced(*root, **context, "clusters", "cluster");
    if (!cluster) return std::unexpected(cluster.error());
    const auto user = referenced(*root, **context, "users", "user");
    if (!user) return std::unexpected(user.error());
    ClusterCredentials access;
    if (auto read = read_cluster(**cluster, access); !read) return std::unexpected(read.error());
    if (auto read = read_user(**user, access); !read) return std::unexpected(read.error());
    return access;
}

}  // namespace kubexm::kube
