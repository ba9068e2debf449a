#include "daemon/cli/commands.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>

#include "daemon/base/digest.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/base/io.hpp"
#include "daemon/base/random.hpp"
#include "daemon/base/try.hpp"
#include "daemon/cli/client.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/plan_end.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::cli {

namespace {

constexpr std::size_t kMaxPlan = std::size_t{1} << 20U;
constexpr std::size_t kMaxContent = std::size_t{1} << 30U;

Result<model::Plan> read_plan(const std::string& path) {
    const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};  // may be a pipe
    if (!file) return from_errno("open", path);
    const std::string text = TRY(read_rest(file.get(), path, kMaxPlan));
    auto plan = model::plan_from_json(text);
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
        Fd file = TRY(open_regular(path));
        const std::string bytes = TRY(read_rest(file.get(), path, kMaxContent));
        if (::lseek(file.get(), 0, SEEK_SET) != 0) return from_errno("seek", path);
        contents.digests.push_back(sha256(bytes));
        contents.descriptors.push_back(file.get());
        contents.files.push_back(std::move(file));
    }
    return contents;
}

void print_diff(const wire::StepPreview& step) {
    fmt::print("{:<8} {}\n", step.holds ? "holds" : "change", step.text);
    for (const std::string& line : step.diff) fmt::print("{}\n", line);
}

/// kFailed: it ended in none of the expected states.
int code_of(const wire::PlanSummary& end, std::initializer_list<model::PlanState> expected) {
    return std::ranges::find(expected, end.state) != expected.end() ? kDone : kFailed;
}

void print_state(const wire::JournalState& state) {
    fmt::print("{}; ledger entries: {}, plans: {}\n",
               state.file.empty() ? "journal is not damaged" : state.file + " is damaged",
               state.entries, state.plans);
    for (const std::string& line : state.damage) fmt::print("damage: {}\n", line);
    if (state.file.empty()) return;
    fmt::print(
        "Decide: kubexmctl journal restore continues with the entries above; kubexmctl journal "
        "discard starts an empty journal, and the objects on the host stay for ever\n");
}

}  // namespace

Result<int> preview(const std::string& socket, const std::string& plan_file, Output output) {
    const auto plan = read_plan(plan_file);
    if (!plan) return refuse_input(plan.error());
    Client client = TRY(Client::connect(socket));
    std::vector<std::string> states;
    TRY(client.ask(wire::Preview{*plan}, {}, [&](const wire::Reply& reply) {
        const auto* step = std::get_if<wire::StepPreview>(&reply);
        if (step == nullptr) return;
        states.emplace_back(step->holds ? "holds" : "change");
        if (output == Output::diff) print_diff(*step);
    }));
    if (output == Output::text) fmt::print("{}", model::to_text(*plan, states));
    if (output == Output::json) fmt::print("{}\n", model::to_json(*plan, states));
    return std::ranges::count(states, "change") > 0 ? kWouldChange : kDone;
}

Result<int> apply(const std::string& socket, const std::string& plan_file,
                  const std::vector<std::string>& contents, bool replace) {
    const auto plan = read_plan(plan_file);
    if (!plan) return refuse_input(plan.error());
    const auto opened = open_contents(contents);
    if (!opened) return refuse_input(opened.error());
    Client client = TRY(Client::connect(socket));
    const std::string id =
        TRY(accepted_id(client, wire::Apply{*plan, opened->digests, replace}, opened->descriptors));
    return code_of(TRY(show_to_end(client, id)), {model::PlanState::done});
}

Result<int> follow(const std::string& socket, const std::string& plan_id) {
    Client client = TRY(Client::connect(socket));
    return code_of(TRY(show_to_end(client, plan_id)),
                   {model::PlanState::done, model::PlanState::undone});
}

Result<int> cancel(const std::string& socket, const std::string& plan_id) {
    Client client = TRY(Client::connect(socket));
    const std::string id = TRY(accepted_id(client, wire::Cancel{plan_id}, {}));
    return code_of(TRY(show_to_end(client, id)), {model::PlanState::cancelled});
}

Result<int> undo(const std::string& socket, const std::string& owner) {
    Client client = TRY(Client::connect(socket));
    return code_of(TRY(undo_owner(client, owner)), {model::PlanState::undone});
}

Result<int> history(const std::string& socket, unsigned limit) {
    Client client = TRY(Client::connect(socket));
    TRY(client.ask(wire::History{limit}, {}, [](const wire::Reply& reply) {
        const auto* plan = std::get_if<wire::PlanSummary>(&reply);
        if (plan == nullptr) return;
        fmt::print("{:<10} {} ({}) for {}{}\n", name_of(plan->state), plan->plan_id,
                   name_of(plan->purpose), plan->owner,
                   plan->error.empty() ? "" : ": " + plan->error);
    }));
    return kDone;
}

Result<int> journal(const std::string& socket, wire::JournalAction action) {
    Client client = TRY(Client::connect(socket));
    bool is_damaged = true;
    TRY(client.ask(wire::JournalRequest{action}, {}, [&](const wire::Reply& reply) {
        if (const auto* entry = std::get_if<wire::JournalEntry>(&reply)) {
            fmt::print("{:<16} {}\n", entry->owner, entry->text);
        }
        const auto* state = std::get_if<wire::JournalState>(&reply);
        if (state == nullptr) return;
        is_damaged = !state->file.empty();
        print_state(*state);
    }));
    return is_damaged ? kFailed : kDone;
}

Result<int> observe(const std::string& socket) {
    Client client = TRY(Client::connect(socket));
    TRY(client.ask(wire::Observe{}, {},
                   [](const wire::Reply& reply) { fmt::print("{}\n", to_json(reply)); }));
    return kDone;
}

}  // namespace kubexm::cli
