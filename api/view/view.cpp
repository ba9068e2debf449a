#include "api/view/view.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "daemon/base/digest.hpp"

namespace kubexm::api {

namespace {

using nlohmann::json;

json view(const std::string& text) { return text; }

json view(const model::Interface& interface) {
    return {{"name", interface.name},
            {"mac", interface.mac},
            {"addresses", interface.addresses},
            {"up", interface.up},
            {"isDefault", interface.is_default}};
}

template <typename T>
json view(const std::vector<T>& list);

/// machine-id(5): the id itself is confidential, and this host's other users can read the API.
std::string hash_of_machine(const std::string& id) {
    constexpr std::size_t kDigits = 32;
    return id.empty() ? "" : sha256("kubexmd " + id).substr(0, kDigits);
}

json view(const model::HostFacts& host) {
    return {{"name", host.name},
            {"osImage", host.os_image},
            {"architecture", host.architecture},
            {"machineIdHash", hash_of_machine(host.machine_id)},
            {"cpus", host.cpus},
            {"memoryBytes", host.memory_bytes},
            {"interfaces", view(host.interfaces)}};
}

json view(const model::AssignmentView& assignment) {
    return {{"cluster", assignment.cluster},
            {"machine", assignment.machine},
            {"uid", assignment.uid},
            {"server", assignment.server},
            {"version", assignment.version}};
}

json view(const model::PauseView& pause) {
    return {{"since", pause.since},
            {"until", pause.until.empty() ? json() : json(pause.until)},
            {"uid", pause.uid}};
}

json view(const model::Condition& condition) {
    return {{"type", condition.type},         {"status", name_of(condition.status)},
            {"severity", condition.severity}, {"reason", condition.reason},
            {"message", condition.message},   {"since", condition.since}};
}

json view(const model::IssuerView& issuer) {
    return {{"subject", issuer.subject}, {"notAfter", issuer.not_after}};
}

json view(const model::CertificateView& certificate) {
    return {{"name", certificate.name},
            {"subject", certificate.subject},
            {"serial", certificate.serial},
            {"notBefore", certificate.not_before},
            {"notAfter", certificate.not_after},
            {"renewedBy", "kubexmd"},
            {"issuers", view(certificate.issuers)},
            {"next",
             {{"action", name_of(certificate.next)},
              {"at", certificate.next_at.empty() ? json() : json(certificate.next_at)},
              {"reason", certificate.next_reason}}}};
}

json view(const model::Finding& finding) {
    return {{"id", name_of(finding.id)},
            {"severity", name_of(finding.severity)},
            {"found", finding.found},
            {"needed", finding.needed},
            {"remedy", finding.remedy}};
}

json view(const model::UnitView& unit) {
    return {{"name", unit.name}, {"active", unit.active}, {"enablement", unit.enablement}};
}

json view(const model::Permits& permits) {
    return {{"clusters", name_of(permits.clusters)}, {"registries", name_of(permits.registries)}};
}

json view(const model::StepView& step);
json view(const model::Remaining& object);
json view(const model::PlanView& plan);

template <typename T>
json view(const std::vector<T>& list) {
    json array = json::array();
    for (const T& item : list) array.push_back(view(item));
    return array;
}

template <typename T>
json view(const std::optional<T>& value) {
    return value ? view(*value) : json();
}

json view(const model::StepView& step) {
    return {{"type", step.type},
            {"target", step.target},
            {"text", step.text},
            {"effects", view(step.effects)},
            {"state", name_of(step.state)},
            {"error", step.error},
            {"progress", step.progress}};
}

json view(const model::Remaining& object) {
    return {{"object", object.object}, {"why", object.why}, {"blocksJoin", object.blocks_join}};
}

json view(const model::PlanView& plan) {
    return {{"id", plan.id},
            {"purpose", name_of(plan.purpose)},
            {"hash", plan.hash},
            {"state", name_of(plan.state)},
            {"error", plan.error},
            {"stays", view(plan.stays)},
            {"steps", view(plan.steps)}};
}

std::string text(const json& document) {
    return document.dump(2, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string status_json(const model::Snapshot& snapshot) {
    return text({{"host", view(snapshot.host)},
                 {"phase", name_of(snapshot.phase)},
                 {"pause", view(snapshot.pause)},
                 {"assignment", view(snapshot.assignment)},
                 {"conditions", view(snapshot.conditions)},
                 {"preflight", view(snapshot.preflight)},
                 {"plan", view(snapshot.plan)},
                 {"certificates", view(snapshot.certificates)},
                 {"units", view(snapshot.units)},
                 {"permits", view(snapshot.permits)},
                 {"version", snapshot.version}});
}

std::string certificates_json(const std::vector<model::CertificateView>& certificates) {
    return text({{"certificates", view(certificates)}});
}

std::string plan_json(const model::PlanView& plan) { return text(view(plan)); }

std::string operation_json(const std::string& id, const std::string& decision) {
    return text({{"id", id}, {"text", decision}});
}

std::string problem_json(int status, const std::string& title, const std::string& detail) {
    return text(
        {{"type", "about:blank"}, {"title", title}, {"status", status}, {"detail", detail}});
}

}  // namespace kubexm::api
