// kubexmctl: what a person asks of the hands.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "daemon/base/version.hpp"
#include "daemon/cli/commands.hpp"

namespace {

using kubexm::Result;

int finish(const Result<int>& outcome) {
    if (outcome) return *outcome;
    fmt::print(stderr, "kubexmctl: {}\n", outcome.error().what);
    return 1;
}

void add_journal_actions(CLI::App& journal, kubexm::wire::JournalAction& action) {
    using kubexm::wire::JournalAction;
    const auto add = [&](const char* name, const char* text, JournalAction chosen) {
        journal.add_subcommand(name, text)->callback([&action, chosen] { action = chosen; });
    };
    add("show", "what is in it, or can still be read of a damaged one", JournalAction::show);
    add("restore", "go on with what can be read of a damaged one", JournalAction::restore);
    add("discard", "begin anew: what is on the host is nobody's from now on",
        JournalAction::discard);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Asks kubexm-hands to show, carry out and take back plans on this host.",
                 "kubexmctl");
    app.set_version_flag("--version", fmt::format("kubexmctl {}", kubexm::kVersion));
    app.require_subcommand(1);
    std::string socket = "/run/kubexm-hands/hands.sock";
    app.add_option("--socket", socket, "the socket of the hands")->capture_default_str();

    std::string plan;
    std::vector<std::string> contents;
    bool replace = false;
    auto* preview = app.add_subcommand("preview", "show what a plan would change; changes nothing");
    preview->add_option("PLAN", plan, "file with the plan as JSON")->required();
    auto* apply = app.add_subcommand("apply", "carry out a plan and show its steps");
    apply->add_option("PLAN", plan, "file with the plan as JSON")->required();
    apply->add_option("--content", contents, "file with content that the plan names by digest");
    apply->add_flag("--replace", replace, "take the place of a plan that is running");

    std::string owner;
    auto* undo =
        app.add_subcommand("undo", "take back everything that is on the host for an owner");
    undo->add_option("OWNER", owner)->required();
    unsigned limit = 20;
    auto* history = app.add_subcommand("history", "show the last plans, newest first");
    history->add_option("--limit", limit)->capture_default_str();
    app.add_subcommand("observe", "show units and owners as JSON");
    auto action = kubexm::wire::JournalAction::show;
    auto* journal =
        app.add_subcommand("journal", "look at the journal, decide about a damaged one");
    journal->require_subcommand(1);
    add_journal_actions(*journal, action);
    CLI11_PARSE(app, argc, argv);

    if (preview->parsed()) return finish(kubexm::cli::preview(socket, plan));
    if (apply->parsed()) return finish(kubexm::cli::apply(socket, plan, contents, replace));
    if (undo->parsed()) return finish(kubexm::cli::undo(socket, owner));
    if (history->parsed()) return finish(kubexm::cli::history(socket, limit));
    if (journal->parsed()) return finish(kubexm::cli::journal(socket, action));
    return finish(kubexm::cli::observe(socket));
}
