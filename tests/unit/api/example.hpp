#pragma once

#include "daemon/model/snapshot.hpp"

namespace kubexm::api {

/// A host without a management cluster.
inline model::Snapshot fresh_host() {
    model::Snapshot snapshot;
    snapshot.host = {"h1",
                     "Debian GNU/Linux 12 (bookworm)",
                     "amd64",
                     "0a1b2c",
                     2,
                     4'000'000'000,
                     {{"eth0", "02:00:00:00:00:01", {"10.0.0.5/24", "fe80::1/64"}, true, true}}};
    snapshot.version = "0.1.0";
    return snapshot;
}

inline model::PlanView running_plan() {
    using model::StepState;
    model::PlanView plan{"p-1", model::PlanPurpose::join, "abcd", model::PlanState::running, "", {},
                         {}};
    plan.steps = {
        {"sysctl", "net.ipv4.ip_forward", "set net.ipv4.ip_forward to 1", {}, StepState::done, ""},
        {"unit",
         "kubelet.service",
         "start kubelet.service",
         {"restarts it"},
         StepState::failed,
         "no \"x\""},
        {"unit", "b.service", "start b.service", {}, StepState::pending, ""}};
    plan.stays = {{"file /etc/x", "somebody changed it: compare it", false}};
    return plan;
}

/// A host that joins, with markup and control characters in its text.
inline model::Snapshot joining_host() {
    model::Snapshot snapshot = fresh_host();
    snapshot.phase = model::Phase::joining;
    snapshot.assignment = {"blue", "default/blue-workers-x7k2p", "6f1c", "", "v1.34.1"};
    snapshot.conditions = {
        {"Connected", model::ConditionStatus::yes, "", "", "", "2026-01-02T03:04:05Z"},
        {"Joined", model::ConditionStatus::no, "Error", "StepFailed",
         "<script>\x1b[31m\xff\xc2\x85\xe9\x9b\xaa", "2026-01-02T03:04:06Z"},
        {"Ready", model::ConditionStatus::unknown, "", "", "", "2026-01-02T03:04:07Z"}};
    snapshot.preflight = {{model::CheckId::network_tools, model::Severity::warning, "missing: nft",
                           "the tools", "install them"}};
    snapshot.plan = running_plan();
    snapshot.pause = {"2026-01-02T03:04:05Z", "2026-01-02T05:04:05Z", 1000};
    snapshot.certificates = {{.name = "node",
                              .subject = "CN=system:node:h1, O=system:nodes",
                              .serial = "01",
                              .not_before = "2026-01-02T03:04:05Z",
                              .not_after = "2027-01-02T03:04:05Z",
                              .issuers = {{"CN=kubernetes", "2036-01-02T03:04:05Z"}},
                              .next = model::CertificateAction::retry,
                              .next_at = "2026-10-02T03:04:05Z",
                              .next_reason = "https://a: certificate request x was denied"}};
    snapshot.units = {{"kubelet.service", "active", "enabled"}};
    snapshot.permits = {model::Permit::listed, model::Permit::any};
    return snapshot;
}

}  // namespace kubexm::api
