#include "daemon/cli/status_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "daemon/base/text.hpp"

namespace kubexm::cli {

namespace {

using nlohmann::json;

const json& member(const json& object, const char* name) {
    static const json kNothing;
    const auto found = object.is_object() ? object.find(name) : object.end();
    return found == object.end() ? kNothing : *found;
}

std::string word(const json& object, const char* name) {
    const auto* text = member(object, name).get_ptr<const json::string_t*>();
    return text == nullptr ? "" : printable(*text);
}

double number(const json& object, const char* name) {
    const json& value = member(object, name);
    return value.is_number() ? value.get<double>() : 0;
}

/// "a: b: c" without empty parts.
std::string joined(std::initializer_list<std::string> parts) {
    std::string all;
    for (const std::string& part : parts) {
        if (part.empty()) continue;
        all += (all.empty() ? "" : ": ") + part;
    }
    return all;
}

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

}  // namespace

std::string status_text(const json& status) {
    std::string text = host_line(member(status, "host")) + line("phase", word(status, "phase")) +
                       assignment_line(member(status, "assignment")) +
                       plan_line(member(status, "plan"));
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
    return text + line("version", word(status, "version"));
}

std::string plan_text(const json& plan) {
    std::string text = fmt::format("plan {}: {}\n", word(plan, "id"),
                                   joined({word(plan, "state"), word(plan, "error")}));
    for (const json& step : member(plan, "steps")) {
        text +=
            fmt::format("{:<8} {}\n", word(step, "state"),
                        joined({word(step, "text"), word(step, "error"), word(step, "progress")}));
    }
    return text;
}

}  // namespace kubexm::cli
