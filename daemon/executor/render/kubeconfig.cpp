#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "daemon/base/grammar.hpp"
#include "daemon/base/try.hpp"
#include "daemon/base/yaml.hpp"
#include "daemon/executor/render/documents.hpp"
#include "daemon/executor/render/render.hpp"
#include "daemon/executor/render/validation.hpp"

namespace kubexm::executor {

namespace {

// As in a kubeconfig that kubelet writes.
constexpr const char* kCluster = "default-cluster";
constexpr const char* kUser = "default-auth";
constexpr const char* kContext = "default-context";

/// Certificate and key in one file, so that they change together.
const char* client_pair(model::KubeconfigUser user) {
    switch (user) {
        case model::KubeconfigUser::kubelet:
            return "/var/lib/kubelet/pki/kubelet-client-current.pem";
        case model::KubeconfigUser::kube_proxy:
            return "/var/lib/kube-proxy/pki/kube-proxy-client-current.pem";
    }
    return "";
}

void emit_cluster(YAML::Emitter& out, const model::Kubeconfig& kubeconfig) {
    out << "clusters" << YAML::BeginSeq << YAML::BeginMap;
    out << "name" << kCluster;
    out << "cluster" << YAML::BeginMap;
    out << "certificate-authority" << model::kClusterCa;
    out << "server" << YAML::DoubleQuoted << kubeconfig.server;
    if (kubeconfig.server_name) {
        out << "tls-server-name" << YAML::DoubleQuoted << *kubeconfig.server_name;
    }
    out << YAML::EndMap << YAML::EndMap << YAML::EndSeq;
}

void emit_user(YAML::Emitter& out, const char* pair) {
    out << "users" << YAML::BeginSeq << YAML::BeginMap;
    out << "name" << kUser;
    out << "user" << YAML::BeginMap;
    out << "client-certificate" << pair;
    out << "client-key" << pair;
    out << YAML::EndMap << YAML::EndMap << YAML::EndSeq;
}

void emit_context(YAML::Emitter& out) {
    out << "contexts" << YAML::BeginSeq << YAML::BeginMap;
    out << "name" << kContext;
    out << "context" << YAML::BeginMap;
    out << "cluster" << kCluster;
    out << "user" << kUser;
    out << YAML::EndMap << YAML::EndMap << YAML::EndSeq;
    out << "current-context" << kContext;
}

const yaml::Value* member(const yaml::Value* value, std::string_view key) {
    const auto* map = value == nullptr ? nullptr : std::get_if<yaml::Map>(&value->content);
    if (map == nullptr) return nullptr;
    const auto found = std::ranges::find(*map, key, &yaml::Member::key);
    return found == map->end() ? nullptr : &found->value;
}

/// Of the one cluster.
const yaml::Value* cluster_in(const yaml::YamlDocument& document) {
    const auto* clusters = member(&document.root, "clusters");
    const auto* list = clusters ? std::get_if<yaml::List>(&clusters->content) : nullptr;
    return list == nullptr || list->size() != 1 ? nullptr : member(&list->front(), "cluster");
}

std::optional<std::string> text_in(const yaml::Value* value) {
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->content);
    return text == nullptr ? std::nullopt : std::optional(*text);
}

}  // namespace

Result<std::string> content_of(const model::Kubeconfig& kubeconfig) {
    Validation validation;
    validation.text("server", kubeconfig.server, kServerUrl);
    if (kubeconfig.server_name) {
        validation.text("server_name", *kubeconfig.server_name, kDnsName);
    }
    TRY(validation.outcome());
    YAML::Emitter out;
    out << YAML::BeginMap;
    out << "apiVersion" << "v1";
    out << "kind" << "Config";
    emit_cluster(out, kubeconfig);
    emit_user(out, client_pair(kubeconfig.user));
    emit_context(out);
    out << YAML::EndMap;
    return fmt::format("# {}\n{}\n", kNotice, out.c_str());
}

std::optional<model::Kubeconfig> kubeconfig_from(std::string_view text) {
    if (!text.contains(kNotice)) return std::nullopt;
    const auto document = yaml::parse(text);
    const auto* const cluster = cluster_in(document);
    auto server = text_in(member(cluster, "server"));
    if (!server) return std::nullopt;
    return model::Kubeconfig{.user = model::KubeconfigUser::kubelet,
                             .server = *std::move(server),
                             .server_name = text_in(member(cluster, "tls-server-name"))};
}

}  // namespace kubexm::executor
