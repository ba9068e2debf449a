#include "daemon/kube/byohost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "daemon/base/digest.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"
#include "daemon/kube/fields.hpp"
#include "daemon/model/step_names.hpp"

namespace kubexm::kube {

namespace {

using model::Condition;
using model::HostRecord;
using nlohmann::json;

constexpr const char* kClusterLabel = "cluster.x-k8s.io/cluster-name";
constexpr const char* kMachineLabel = "byoh.infrastructure.cluster.x-k8s.io/byomachine-name";
constexpr const char* kPaused = "cluster.x-k8s.io/paused";
constexpr const char* kUnregistering = "byoh.infrastructure.cluster.x-k8s.io/unregistering";
constexpr std::size_t kMaxUid = 64;
constexpr const char* kVersion = "byoh.infrastructure.cluster.x-k8s.io/k8sversion";

Result<std::optional<model::Reference>> reference_at(const json& object, const char* part,
                                                     const char* member) {
    const json& found = at(object, {part, member});
    if (found.is_null()) return std::nullopt;
    model::Reference reference{text_at(found, {"namespace"}), text_at(found, {"name"}),
                               text_at(found, {"uid"})};
    if (reference.name.empty() || reference.namespace_.empty()) {
        return fail(Code::invalid,
                    fmt::format("{}.{}: expected a namespace and a name, found {}", part, member,
                                reference.name.empty() ? "no name" : "no namespace"));
    }
    return reference;
}

/// The uid becomes part of file names and the owner of ledger entries.
bool is_uid(std::string_view text) {
    return text.size() <= kMaxUid &&
           made_of(text, [](char c) { return is_alphanumeric(c) || c == '-'; });
}

Result<std::optional<model::Reference>> machine_at(const json& object) {
    auto machine = TRY(reference_at(object, "status", "machineRef"));
    if (!machine || is_uid(machine->uid)) return machine;
    return fail(Code::invalid,
                fmt::format("status.machineRef.uid: expected 1 to {} letters, digits and -, found "
                            "\"{:.{}}\"",
                            kMaxUid, printable(machine->uid), kMaxUid));
}

/// The value; on an error an empty one, and the error in `problem`.
template <typename T>
T value_or_problem(Result<T> value, std::string& problem) {
    if (value) return *std::move(value);
    problem = value.error().what;
    return {};
}

std::vector<model::Pair> labels_at(const json& object) {
    std::vector<model::Pair> labels;
    const json& map = at(object, {"spec", "labels"});
    if (!map.is_object()) return labels;
    for (const auto& [key, value] : map.items()) {
        if (value.is_string()) labels.push_back({key, value.get<std::string>()});
    }
    return labels;
}

Result<std::vector<model::Taint>> taints_at(const json& object) {
    std::vector<model::Taint> taints;
    const json& list = at(object, {"spec", "taints"});
    if (!list.is_array()) return taints;
    for (const json& item : list) {
        const auto effect = from_name<model::TaintEffect>(text_at(item, {"effect"}));
        if (!effect) {
            return fail(Code::invalid, fmt::format("spec.taints[{}].effect: expected one of {}",
                                                   taints.size(), all_names<model::TaintEffect>()));
        }
        taints.push_back({text_at(item, {"key"}), text_at(item, {"value"}), *effect});
    }
    return taints;
}

Condition condition_from(const json& item) {
    return {.type = text_at(item, {"type"}),
            .status = from_name<model::ConditionStatus>(text_at(item, {"status"}))
                          .value_or(model::ConditionStatus::unknown),
            .severity = text_at(item, {"severity"}),
            .reason = text_at(item, {"reason"}),
            .message = text_at(item, {"message"}),
            .since = text_at(item, {"lastTransitionTime"})};
}

std::vector<Condition> conditions_at(const json& object) {
    std::vector<Condition> conditions;
    const json& list = at(object, {"status", "conditions"});
    if (!list.is_array()) return conditions;
    for (const json& item : list) conditions.push_back(condition_from(item));
    return conditions;
}

json to_json(const Condition& condition) {
    json object{{"type", condition.type},
                {"status", std::string(name_of(condition.status))},
                {"lastTransitionTime", condition.since}};
    if (!condition.reason.empty()) object["reason"] = condition.reason;
    if (!condition.message.empty()) object["message"] = condition.message;
    if (condition.status == model::ConditionStatus::no) object["severity"] = condition.severity;
    return object;
}

/// The whole list: a merge patch replaces lists, and controllers have conditions there, too. Theirs
/// keep all their fields.
json merged(const HostRecord& record, const std::vector<Condition>& ours) {
    std::map<std::string, json> all;
    for (std::size_t i = 0; i < record.condition_texts.size(); ++i) {
        all[record.conditions.at(i).type] = json::parse(record.condition_texts[i]);
    }
    for (const Condition& own : ours) all[own.type] = to_json(own);
    json list = json::array();
    for (auto& [type, condition] : all) list.push_back(std::move(condition));
    return list;
}

std::vector<std::string> condition_texts_at(const json& object) {
    std::vector<std::string> texts;
    const json& list = at(object, {"status", "conditions"});
    if (!list.is_array()) return texts;
    for (const json& item : list) texts.push_back(item.dump());
    return texts;
}

/// Of the status, which this host writes, others have the reference to the machine.
std::string others_digest(const json& object) {
    const json& metadata = at(object, {"metadata"});
    if (!metadata.is_object()) return "";
    json theirs = metadata;
    for (const char* counted : {"resourceVersion", "generation", "managedFields"}) {
        theirs.erase(counted);
    }
    const json& machine = at(object, {"status", "machineRef"});
    return sha256(json{theirs, at(object, {"spec"}), machine}.dump());
}

json to_json(const model::Interface& link) {
    return {{"networkInterfaceName", link.name},
            {"macAddr", link.mac},
            {"ipAddrs", link.addresses},
            {"connected", link.up},
            {"isDefault", link.is_default}};
}

json capacity_of(const model::HostFacts& facts) {
    return {{"cpu", std::to_string(facts.cpus)},
            {"memory", fmt::format("{}Ki", facts.memory_bytes / 1024)}};
}

/// The selectors of machines match labels only.
json capacity_labels(const model::HostFacts& facts) {
    json labels;
    const json capacity = capacity_of(facts);
    for (const auto& [name, quantity] : capacity.items()) {
        labels["capacity.infrastructure.cluster.x-k8s.io/" + name] = quantity;
    }
    return labels;
}

}  // namespace

std::string hosts_path(const std::string& namespace_) {
    return fmt::format("/apis/{}/namespaces/{}/byohosts", kHostApiVersion, namespace_);
}

std::string host_path(const std::string& namespace_, const std::string& name) {
    return hosts_path(namespace_) + "/" + name;
}

std::string host_status_path(const std::string& namespace_, const std::string& name) {
    return host_path(namespace_, name) + "/status";
}

HostRecord host_from_json(const json& object) {
    std::string problem;
    auto machine = value_or_problem(machine_at(object), problem);
    auto secret = value_or_problem(reference_at(object, "spec", "bootstrapSecret"), problem);
    auto taints = value_or_problem(taints_at(object), problem);
    return HostRecord{
        .uid = text_at(object, {"metadata", "uid"}),
        .resource_version = text_at(object, {"metadata", "resourceVersion"}),
        .paused = has_key(object, {"metadata", "annotations"}, kPaused),
        .release_asked = has_key(object, {"metadata", "annotations"}, kUnregistering),
        .cluster = text_at(object, {"metadata", "labels", kClusterLabel}),
        .machine_name = text_at(object, {"metadata", "labels", kMachineLabel}),
        .version = text_at(object, {"metadata", "annotations", kVersion}),
        .join_mode = text_at(object, {"spec", "joinMode"}),
        .machine = std::move(machine),
        .bootstrap_secret = std::move(secret),
        .labels = labels_at(object),
        .taints = std::move(taints),
        .conditions = conditions_at(object),
        .condition_texts = condition_texts_at(object),
        .problem = std::move(problem),
        .others = others_digest(object),
    };
}

json new_host(const model::HostFacts& facts) {
    return {{"apiVersion", kHostApiVersion},
            {"kind", kHostKind},
            {"metadata", {{"name", facts.name}, {"labels", capacity_labels(facts)}}},
            {"spec", {{"capacity", capacity_of(facts)}}}};
}

json capacity_patch(const model::HostFacts& facts) {
    return {{"metadata", {{"labels", capacity_labels(facts)}}},
            {"spec", {{"capacity", capacity_of(facts)}}}};
}

json facts_patch(const model::HostFacts& facts) {
    json network = json::array();
    for (const model::Interface& link : facts.interfaces) network.push_back(to_json(link));
    return {{"status",
             {{"hostinfo",
               {{"osname", "linux"},
                {"osimage", facts.os_image},
                {"architecture", facts.architecture}}},
              {"network", network}}}};
}

json conditions_patch(const HostRecord& record, const std::vector<Condition>& ours) {
    return {{"metadata", {{"resourceVersion", record.resource_version}}},
            {"status", {{"conditions", merged(record, ours)}}}};
}

json released_status_patch(const HostRecord& record, const std::vector<Condition>& ours) {
    json patch = conditions_patch(record, ours);
    patch["status"]["machineRef"] = nullptr;
    return patch;
}

json released_patch(const HostRecord& record) {
    json annotations;
    for (const char* word : {"unregistering", "endpointip", "k8sversion", "bundle-registry",
                             "cleanup-started-at", "force-cleanup"}) {
        annotations[fmt::format("byoh.infrastructure.cluster.x-k8s.io/{}", word)] = nullptr;
    }
    return {{"metadata",
             {{"resourceVersion", record.resource_version},
              {"labels", {{kClusterLabel, nullptr}, {kMachineLabel, nullptr}}},
              {"annotations", annotations}}},
            {"spec",
             {{"bootstrapSecret", nullptr},
              {"installationSecret", nullptr},
              {"uninstallationScript", nullptr}}}};
}

}  // namespace kubexm::kube
