#include "daemon/cli/status_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "daemon/cli/json_document.hpp"

namespace kubexm::cli {

namespace {

using nlohmann::json;

std::string line(std::string_view title, std::string_view text) {
    return fmt::format("{:<12} {}\n", title, text);
}

std::string host_line(const json& host) {
    constexpr double kGiB = 1024.0 * 1024 * 1024;
    return line("host", fmt::format("{} ({}, {}, {:.0f} CPUs, {:.1f} GiB)", word(host, "name"),
                                    word(host, "osImage"), word(host, "architecture"),
                                    number(host, "cpus"), number(host, "memoryBytes") / kGiB));
}

std::string assignment_line(const json& assignment) {
    if (!assignment.is_object()) return line("assignment", "none");
    const std::string server = word(assignment, "server");
    return line("assignment", fmt::format("{} {} as {}{}", word(assignment, "cluster"),
                                          word(assignment, "version"), word(assignment, "machine"),
                                          server.empty() ? "" : " at " + server));
}

bool is_finished(const json& step) {
    const std::string state = word(step, "state");
    return state == "done" || state == "skipped";
}

std::string plan_line(const json& plan) {
    if (!plan.is_object()) return line("plan", "none");
    const json& steps = member(plan, "steps");
    return line("plan",
                fmt::format("{} {}, {} of {} steps done", word(plan, "id"),
                            joined({word(plan, "state"), word(plan, "error")}),
                            std::count_if(steps.begin(), steps.end(), is_finished), steps.size()));
}

std::string pause_line(const json& pause) {
    if (!pause.is_object()) return "";
    const std::string until = word(pause, "until");
    return line("paused", fmt::format("{} by user {:.0f} since {}",
                                      until.empty() ? "until kubexmctl resume" : "until " + until,
                                      number(pause, "uid"), word(pause, "since")));
}

std::string permit_words(const std::string& permit, const char* any) {
    if (permit == "any") return any;
    return permit == "listed" ? "those that root listed" : "none";
}

std::string permits_line(const json& permits) {
    if (!permits.is_object()) return "";
    return line("permits", fmt::format("clusters: {}; registries: {}",
                                       permit_words(word(permits, "clusters"), "any"),
                                       permit_words(word(permits, "registries"), "any with TLS")));
}

std::string stays_lines(const json& plan) {
    std::string lines;
    for (const json& one : member(plan, "stays")) {
        lines += line("stays", joined({word(one, "object"), word(one, "why")}));
    }
    return lines;
}

/// "renew at 2026-01-02T03:04:05Z", "approve: the reason"
std::string next_text(const json& next) {
    const std::string at = word(next, "at");
    return joined({word(next, "action") + (at.empty() ? "" : " at " + at), word(next, "reason")});
}

std::string certificate_lines(const json& one) {
    std::string lines = fmt::format("{}: {}, serial {}\n", word(one, "name"), word(one, "subject"),
                                    word(one, "serial"));
    lines += fmt::format("  valid   {} to {}\n", word(one, "notBefore"), word(one, "notAfter"));
    for (const json& issuer : member(one, "issuers")) {
        lines += fmt::format("  issuer  {} until {}\n", word(issuer, "subject"),
                             word(issuer, "notAfter"));
    }
    return lines + fmt::format("  next    {}: {}\n", word(one, "renewedBy"),
                               next_text(member(one, "next")));
}

}  // namespace

std::string status_text(const json& status) {
    std::string text = host_line(member(status, "host")) + line("phase", word(status, "phase")) +
                       pause_line(member(status, "pause")) +
                       assignment_line(member(status, "assignment")) +
                       plan_line(member(status, "plan")) + stays_lines(member(status, "plan"));
    for (const json& one : member(status, "preflight")) {
        text +=
            line("preflight",
                 fmt::format("{:<8} {}", word(one, "severity"),
                             joined({word(one, "id"), word(one, "found"), word(one, "remedy")})));
    }
    for (const json& one : member(status, "conditions")) {
        text += line(
            "condition",
            fmt::format("{:<8} {}", word(one, "status"),
                        joined({word(one, "type"), word(one, "reason"), word(one, "message")})));
    }
    for (const json& one : member(status, "certificates")) {
        text += line("certificate",
                     fmt::format("{} until {}", word(one, "name"), word(one, "notAfter")));
    }
    for (const json& one : member(status, "units")) {
        text += line("unit", fmt::format("{:<8} {} ({})", word(one, "active"), word(one, "name"),
                                         word(one, "enablement")));
    }
    return text + permits_line(member(status, "permits")) +
           line("version", word(status, "version"));
}

std::string plan_text(const json& plan) {
    std::string text = fmt::format("plan {}: {}\n", word(plan, "id"),
                                   joined({word(plan, "state"), word(plan, "error")}));
    for (const json& step : member(plan, "steps")) {
        text +=
            fmt::format("{:<8} {}\n", word(step, "state"),
                        joined({word(step, "text"), word(step, "error"), word(step, "progress")}));
    }
    for (const json& one : member(plan, "stays")) {
        text += fmt::format("{:<8} {}\n", "stays", joined({word(one, "object"), word(one, "why")}));
    }
    return text;
}

std::string certificates_text(const json& certificates) {
    std::string text;
    for (const json& one : member(certificates, "certificates")) text += certificate_lines(one);
    return text.empty() ? "this host has no certificate yet; see kubexmctl status\n" : text;
}

}  // namespace kubexm::cli
