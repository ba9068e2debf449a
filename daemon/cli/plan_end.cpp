#include "daemon/cli/plan_end.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "daemon/base/random.hpp"
#include "daemon/base/try.hpp"

namespace kubexm::cli {

namespace {

void show_step(const wire::StepEvent& event) {
    const bool begins = event.state == model::StepState::prepared;
    if (begins && event.progress.empty()) return;
    const std::string& note = begins ? event.progress : event.error;
    fmt::print("{:<8} {}{}{}\n", begins ? "" : name_of(event.state), event.text,
               note.empty() ? "" : ": ", note);
    std::fflush(stdout);  // for readers of a pipe
}

void show_end(const wire::PlanSummary& end) {
    fmt::print("plan {}: {}{}\n", end.plan_id, name_of(end.state),
               end.error.empty() ? "" : " (" + end.error + ")");
    for (const model::Remaining& each : end.stays) {
        fmt::print("stays: {}: {}\n", each.object, each.why);
    }
    if (end.unnamed > 0) fmt::print("stays: {} other objects, not named here\n", end.unnamed);
}

}  // namespace

Result<std::string> accepted_id(Client& client, const wire::Request& request,
                                std::span<const int> descriptors) {
    std::string id;
    TRY(client.ask(request, descriptors, [&](const wire::Reply& reply) {
        if (const auto* accepted = std::get_if<wire::Accepted>(&reply)) id = accepted->plan_id;
    }));
    return id;
}

Result<wire::PlanSummary> show_to_end(Client& client, const std::string& id) {
    wire::PlanSummary end;
    TRY(client.ask(wire::Follow{id}, {}, [&](const wire::Reply& reply) {
        if (const auto* event = std::get_if<wire::StepEvent>(&reply)) show_step(*event);
        if (const auto* summary = std::get_if<wire::PlanSummary>(&reply)) end = *summary;
    }));
    end.plan_id = id;
    show_end(end);
    return end;
}

Result<wire::PlanSummary> undo_owner(Client& client, const std::string& owner) {
    const std::string id = TRY(accepted_id(client, wire::Undo{new_id("undo"), owner}, {}));
    return show_to_end(client, id);
}

}  // namespace kubexm::cli
