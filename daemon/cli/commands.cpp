#include "daemon/cli/commands.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "daemon/base/digest.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/cli/client.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::cli {

namespace {

Result<std::string> read_whole(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return fail(Code::not_found, path + " cannot be read");
    return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<model::Plan> read_plan(const std::string& path) {
    auto text = read_whole(path);
    if (!text) return std::unexpected(text.error());
    auto plan = model::plan_from_json(*text);
    if (!plan) return during(path, plan.error());
    return plan;
}

struct Contents {
    std::vector<std::string> digests;
    std::vector<Fd> files;
    std::vector<int> descriptors;
};

Result<Contents> open_contents(const std::vector<std::string>& paths) {
    Contents contents;
    for (const std::string& path : paths) {
        auto text = read_whole(path);
        if (!text) return std::unexpected(text.error());
        contents.digests.push_back(sha256(*text));
        contents.files.emplace_back(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!contents.files.back()) return from_errno("open", path);
        contents.descriptors.push_back(contents.files.back().get());
    }
    return contents;
}

/// The id of a plan that only says "take back": unique without being told a clock.
std::string new_id(const std::string& owner) {
    unsigned long long number = 0;
    if (::getrandom(&number, sizeof(number), 0) != sizeof(number)) return "undo-" + owner;
    return fmt::format("undo-{:016x}", number);
}

void show_step(const wire::StepEvent& event) {
    const bool begins = event.state == "prepared";
    if (begins && event.progress.empty()) return;
    const std::string& note = begins ? event.progress : event.error;
    fmt::print("{:<8} {}{}{}\n", begins ? "" : event.state, event.text, note.empty() ? "" : ": ",
               note);
    std::fflush(stdout);  // somebody may follow it through a pipe
}

bool show_progress(const wire::Reply& reply) {
    if (const auto* event = std::get_if<wire::StepEvent>(&reply)) show_step(*event);
    return !std::holds_alternative<wire::PlanSummary>(reply);
}

void print_diff(const wire::StepPreview& step) {
    fmt::print("{:<8} {}\n", step.holds ? "holds" : "change", step.text);
    for (const std::string& line : step.diff) fmt::print("{}\n", line);
}

/// Follows a plan to its end; 0 where it came to the state that was wanted,
/// if any was.
Result<int> follow_to(Client& client, const std::string& id, std::string_view wanted) {
    std::string state;
    std::string error;
    auto followed = client.ask(wire::Follow{id}, {}, [&](const wire::Reply& reply) {
        if (const auto* summary = std::get_if<wire::PlanSummary>(&reply)) {
            state = summary->state;
            error = summary->error;
        }
        return show_progress(reply);
    });
    if (!followed) return std::unexpected(followed.error());
    fmt::print("plan {}: {}{}\n", id, state, error.empty() ? "" : " (" + error + ")");
    return wanted.empty() || state == wanted ? 0 : 1;
}

Result<std::string> accepted_id(Client& client, const wire::Request& request,
                                std::span<const int> descriptors) {
    std::string id;
    auto asked = client.ask(request, descriptors, [&](const wire::Reply& reply) {
        if (const auto* accepted = std::get_if<wire::Accepted>(&reply)) id = accepted->plan_id;
        return id.empty();
    });
    if (!asked) return std::unexpected(asked.error());
    return id;
}

void print_state(const wire::JournalState& state) {
    const std::string name = state.file.empty()
                                 ? "the journal is sound"
                                 : state.file + " is damaged and waits for a decision";
    fmt::print("{}: {} of our objects on the host, {} plans\n", name, state.entries, state.plans);
    for (const std::string& line : state.damage) fmt::print("damage: {}\n", line);
    if (state.file.empty()) return;
    fmt::print(
        "kubexmctl journal restore goes on with what is listed here; kubexmctl journal "
        "discard begins anew, and what is on the host stays there for good\n");
}

}  // namespace

Result<int> preview(const std::string& socket, const std::string& plan_file, Output output) {
    auto plan = read_plan(plan_file);
    if (!plan) return std::unexpected(plan.error());
    auto client = Client::connect(socket);
    if (!client) return std::unexpected(client.error());
    std::vector<std::string> states;
    auto asked = client->ask(wire::Preview{*plan}, {}, [&](const wire::Reply& reply) {
        const auto* step = std::get_if<wire::StepPreview>(&reply);
        if (step == nullptr) return false;
        states.emplace_back(step->holds ? "holds" : "change");
        if (output == Output::diff) print_diff(*step);
        return true;
    });
    if (!asked) return std::unexpected(asked.error());
    if (output == Output::text) fmt::print("{}", model::to_text(*plan, states));
    if (output == Output::json) fmt::print("{}\n", model::to_json(*plan, states));
    return 0;
}

Result<int> apply(const std::string& socket, const std::string& plan_file,
                  const std::vector<std::string>& contents, bool replace) {
    auto plan = read_plan(plan_file);
    if (!plan) return std::unexpected(plan.error());
    auto opened = open_contents(contents);
    if (!opened) return std::unexpected(opened.error());
    auto client = Client::connect(socket);
    if (!client) return std::unexpected(client.error());
    auto id =
        accepted_id(*client, wire::Apply{*plan, opened->digests, replace}, opened->descriptors);
    if (!id) return std::unexpected(id.error());
    return follow_to(*client, *id, "done");
}

Result<int> follow(const std::string& socket, const std::string& plan_id) {
    auto client = Client::connect(socket);
    if (!client) return std::unexpected(client.error());
    return follow_to(*client, plan_id, "");
}

Result<int> cancel(const std::string& socket, const std::string& plan_id) {
    auto client = Client::connect(socket);
    if (!client) return std::unexpected(client.error());
    auto id = accepted_id(*client, wire::Cancel{plan_id}, {});
    if (!id) return std::unexpected(id.error());
    return follow_to(*client, *id, "cancelled");
}

Result<int> undo(const std::string& socket, const std::string& owner) {
    auto client = Client::connect(socket);
    if (!client) return std::unexpected(client.error());
    auto id = accepted_id(*client, wire::Undo{new_id(owner), owner}, {});
    if (!id) return std::unexpected(id.error());
    return follow_to(*client, *id, "undone");
}

Result<int> history(const std::string& socket, unsigned limit) {
    auto client = Client::connect(socket);
    if (!client) return std::unexpected(client.error());
    auto asked = client->ask(wire::History{limit}, {}, [](const wire::Reply& reply) {
        const auto* plan = std::get_if<wire::PlanSummary>(&reply);
        if (plan == nullptr) return false;
        fmt::print("{:<10} {} for {}{}\n", plan->state, plan->plan_id, plan->owner,
                   plan->error.empty() ? "" : ": " + plan->error);
        return true;
    });
    if (!asked) return std::unexpected(asked.error());
    return 0;
}

Result<int> journal(const std::string& socket, wire::JournalAction action) {
    auto client = Client::connect(socket);
    if (!client) return std::unexpected(client.error());
    bool sound = false;
    auto asked = client->ask(wire::Journal{action}, {}, [&](const wire::Reply& reply) {
        if (const auto* entry = std::get_if<wire::JournalEntry>(&reply)) {
            fmt::print("{:<16} {}\n", entry->owner, entry->text);
        }
        const auto* state = std::get_if<wire::JournalState>(&reply);
        if (state == nullptr) return true;
        sound = state->file.empty();
        print_state(*state);
        return false;
    });
    if (!asked) return std::unexpected(asked.error());
    return sound ? 0 : 1;
}

Result<int> observe(const std::string& socket) {
    auto client = Client::connect(socket);
    if (!client) return std::unexpected(client.error());
    auto asked = client->ask(wire::Observe{}, {}, [](const wire::Reply& reply) {
        fmt::print("{}\n", pack(reply));
        return false;
    });
    if (!asked) return std::unexpected(asked.error());
    return 0;
}

}  // namespace kubexm::cli
