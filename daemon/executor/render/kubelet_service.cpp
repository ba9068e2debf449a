#include <fmt/format.h>

#include "daemon/base/grammar.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/render/documents.hpp"
#include "daemon/executor/render/templates.hpp"
#include "daemon/executor/render/unit_text.hpp"
#include "daemon/executor/render/validation.hpp"
#include "daemon/model/node_labels.hpp"
#include "daemon/model/step_names.hpp"

namespace kubexm::executor {

namespace {

using model::KubeletService;

void validate_labels(Validation& validation, const std::vector<model::Pair>& labels) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : labels) {
        const std::string place = element("labels", keys.size());
        validation.text(place + ".key", key, kLabelKey);
        validation.text(place + ".value", value, kLabelValue);
        if (validation.outcome()) {
            validation.that(model::may_kubelet_set_label(key), place + ".key",
                            fmt::format("a label that kubelet may set, found {}", key));
        }
        keys.push_back(key);
    }
    validation.keys("labels", keys);
}

void validate_taints(Validation& validation, const std::vector<model::Taint>& taints) {
    std::vector<std::string> keys;
    for (const auto& [key, value, effect] : taints) {
        const std::string place = element("taints", keys.size());
        validation.text(place + ".key", key, kLabelKey);
        validation.text(place + ".value", value, kLabelValue);
        keys.push_back(fmt::format("{}:{}", key, name_of(effect)));
    }
    validation.keys("taints", keys);
}

Result<> validate(const KubeletService& service) {
    Validation validation;
    validation.text("node_name", service.node_name, kNodeName);
    validation.optional_text("node_ip", service.node_ip, kNodeAddress);
    validation.text("provider_id", service.provider_id, kProviderId);
    validate_labels(validation, service.labels);
    validate_taints(validation, service.taints);
    return validation.outcome();
}

/// "site=a,rack=7"
std::string labels_text(const std::vector<model::Pair>& labels) {
    std::vector<std::string> texts;
    texts.reserve(labels.size());
    for (const auto& [key, value] : labels) texts.push_back(fmt::format("{}={}", key, value));
    return fmt::format("{}", fmt::join(texts, ","));
}

/// "gpu:NoExecute,team=a:NoSchedule"
std::string taints_text(const std::vector<model::Taint>& taints) {
    std::vector<std::string> texts;
    texts.reserve(taints.size());
    for (const auto& [key, value, effect] : taints) {
        texts.push_back(
            fmt::format("{}{}{}:{}", key, value.empty() ? "" : "=", value, name_of(effect)));
    }
    return fmt::format("{}", fmt::join(texts, ","));
}

/// Flags identify this node; the configuration file has the settings of all nodes. Every kubelet
/// from 1.29 to 1.36 accepts them.
std::string node_flags(const KubeletService& service) {
    std::vector<std::string> words;
    const auto add = [&words](std::string_view flag, const std::string& value) {
        if (!value.empty()) words.push_back(command_word(fmt::format("--{}={}", flag, value)));
    };
    add("hostname-override", service.node_name);
    add("node-ip", service.node_ip);
    add("provider-id", service.provider_id);
    add("node-labels", labels_text(service.labels));
    add("register-with-taints", taints_text(service.taints));
    return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

Result<std::string> content_of(const KubeletService& service) {
    TRY(validate(service));
    return filled(kKubeletServiceTemplate, "@NODE_FLAGS@", node_flags(service));
}

}  // namespace kubexm::executor
