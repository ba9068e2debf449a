// kubexmctl: the command line of kubexmd and kubexm-executor.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "daemon/base/version.hpp"
#include "daemon/cli/commands.hpp"
#include "daemon/cli/status.hpp"

namespace {

using namespace kubexm;

using Command = std::function<Result<int>()>;

class CommandLine {
public:
    CommandLine() {
        app_.set_version_flag("--version", fmt::format("kubexmctl {}", kVersion));
        app_.require_subcommand(1);
        app_.add_option("--socket", socket_, "socket of kubexm-executor")->capture_default_str();
        app_.add_option("--api-socket", api_socket_, "socket of kubexmd")->capture_default_str();
        add_status_commands();
        add_plan_commands();
        add_running_commands();
        add_journal_commands();
    }

    int run(int argc, char** argv) {
        CLI11_PARSE(app_, argc, argv);
        auto code = chosen_();
        if (code) return *code;
        fmt::print(stderr, "kubexmctl: {}\n", code.error().what);
        return 1;
    }

private:
    CLI::App* add(CLI::App& to, const char* name, const char* text, Command command) {
        auto* added = to.add_subcommand(name, text);
        added->callback([this, command = std::move(command)] { chosen_ = command; });
        return added;
    }

    void add_status_commands() {
        const std::map<std::string, cli::Form> forms{{"text", cli::Form::text},
                                                     {"json", cli::Form::json}};
        const auto add_form = [&](CLI::App* command) {
            command->add_option("--output", form_, "text (the default) or json")
                ->transform(CLI::CheckedTransformer(forms));
        };
        add_form(add(app_, "status", "show the status of this host",
                     [this] { return cli::status(api_socket_, form_); }));
        add_form(add(app_, "plan", "show the steps of the running plan, or of the last one",
                     [this] { return cli::plan(api_socket_, form_); }));
    }

    void add_plan_commands() {
        auto* preview = add(app_, "preview", "show what a plan would change; changes nothing",
                            [this] { return cli::preview(socket_, plan_, output_); });
        preview->add_option("PLAN", plan_, "file with the plan as JSON")->required();
        const std::map<std::string, cli::Output> outputs{
            {"text", cli::Output::text}, {"json", cli::Output::json}, {"diff", cli::Output::diff}};
        preview->add_option("--output", output_, "text, json or diff (the default)")
            ->transform(CLI::CheckedTransformer(outputs));
        auto* apply = add(app_, "apply", "run a plan and show its steps",
                          [this] { return cli::apply(socket_, plan_, contents_, replace_); });
        apply->add_option("PLAN", plan_, "file with the plan as JSON")->required();
        apply->add_option("--content", contents_, "file whose content the plan names by digest");
        apply->add_flag("--replace", replace_, "replace a running plan");
        add(app_, "undo", "undo everything on the host that belongs to an owner",
            [this] { return cli::undo(socket_, owner_); })
            ->add_option("OWNER", owner_)
            ->required();
    }

    void add_running_commands() {
        add(app_, "follow", "show the steps of a plan until it ends",
            [this] { return cli::follow(socket_, plan_); })
            ->add_option("ID", plan_)
            ->required();
        add(app_, "cancel", "stop a running plan before its next step",
            [this] { return cli::cancel(socket_, plan_); })
            ->add_option("ID", plan_)
            ->required();
        add(app_, "history", "show the last plans, newest first",
            [this] { return cli::history(socket_, limit_); })
            ->add_option("--limit", limit_)
            ->capture_default_str();
        add(app_, "observe", "show units and owners as JSON",
            [this] { return cli::observe(socket_); });
    }

    void add_journal_commands() {
        using wire::JournalAction;
        auto* journal =
            app_.add_subcommand("journal", "show the journal, restore or discard a damaged one");
        journal->require_subcommand(1);
        const auto of = [this](JournalAction action) {
            return [this, action] { return cli::journal(socket_, action); };
        };
        add(*journal, "show", "show its entries, or the readable ones of a damaged journal",
            of(JournalAction::show));
        add(*journal, "restore", "continue with the readable entries of a damaged journal",
            of(JournalAction::restore));
        add(*journal, "discard",
            "start an empty journal: objects on the host stay and lose their owner",
            of(JournalAction::discard));
    }

    CLI::App app_{"Shows the status of this host; previews, runs and undoes plans on it.",
                  "kubexmctl"};
    Command chosen_;
    std::string socket_ = "/run/kubexm-executor/executor.sock";
    std::string api_socket_ = "/run/kubexm/kubexmd.sock";
    cli::Form form_ = cli::Form::text;
    std::string plan_;
    std::vector<std::string> contents_;
    bool replace_ = false;
    cli::Output output_ = cli::Output::diff;
    std::string owner_;
    unsigned limit_ = 20;
};

}  // namespace

int main(int argc, char** argv) { return CommandLine().run(argc, argv); }
