// kubexmctl: the command line of kubexmd and kubexm-executor.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "daemon/base/try.hpp"
#include "daemon/base/version.hpp"
#include "daemon/cli/commands.hpp"
#include "daemon/cli/duration.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/operations.hpp"
#include "daemon/cli/status.hpp"

namespace {

using namespace kubexm;

using Command = std::function<Result<int>()>;

constexpr const char* kExitCodes =
    "Exit codes:\n"
    "  0    done, or nothing to do\n"
    "  2    usage: the command line or a file on it is wrong\n"
    "  3    refused: nothing was changed\n"
    "  4    failed\n"
    "  5    kubexmd or kubexm-executor does not answer, or cannot decide yet: retry later\n"
    "  10   preview: the plan would change something\n"
    "  130  interrupted";

/// An option that takes one of a few words. CLI11's own transformer shows its numbers to people.
template <typename T>
void add_choice(CLI::App& to, const char* names, T& chosen, const char* text,
                std::map<std::string, T> choices) {
    const CLI::IsMember known(choices);
    const auto choose = [&chosen, choices = std::move(choices)](const std::string& word) {
        chosen = choices.at(word);
    };
    to.add_option_function<std::string>(names, choose, text)
        ->type_name("FORM")
        ->check(known.description(""));
}

class CommandLine {
public:
    CommandLine() {
        app_.set_version_flag("--version", fmt::format("kubexmctl {}", kVersion));
        app_.require_subcommand(1);
        app_.footer(kExitCodes);  // of every command below, too
        app_.add_option("--socket", socket_, "socket of kubexm-executor")->capture_default_str();
        app_.add_option("--api-socket", api_socket_, "socket of kubexmd")->capture_default_str();
        app_.add_option("--control-socket", control_socket_, "socket of kubexmd for root")
            ->capture_default_str();
        add_status_commands();
        add_control_commands();
        add_plan_commands();
        add_running_commands();
        add_certificate_commands();
        add_journal_commands();
    }

    int run(int argc, char** argv) {
        try {
            app_.parse(argc, argv);
        } catch (const CLI::ParseError& error) {  // also --help and --version
            return app_.exit(error) == 0 ? cli::kDone : cli::kUsage;
        }
        auto code = chosen_();
        if (code) return *code;
        fmt::print(stderr, "kubexmctl: {}\n", code.error().what);
        return cli::exit_code_of(code.error());
    }

private:
    CLI::App* add(CLI::App& to, const char* name, const char* text, Command command) {
        auto* added = to.add_subcommand(name, text);
        added->callback([this, command = std::move(command)] { chosen_ = command; });
        return added;
    }

    void add_form(CLI::App* command) {
        add_choice(*command, "-o,--output", form_, "text (the default) or json",
                   {{"text", cli::Form::text}, {"json", cli::Form::json}});
    }

    void add_status_commands() {
        add_form(add(app_, "status", "show the status of this host",
                     [this] { return cli::status(api_socket_, form_); }));
        auto* preflight =
            add(app_, "preflight", "check whether this host is ready to become a node", [this] {
                return cli::preflight({socket_, api_socket_}, minor_, form_ == cli::Form::json);
            });
        preflight->add_option("--minor", minor_, "of Kubernetes: 34 for 1.34; without it any");
        add_form(preflight);
        add_form(add(app_, "plan", "show the steps of the running plan, or of the last one",
                     [this] { return cli::plan(api_socket_, form_); }));
    }

    void add_control_commands() {
        using model::Verb;
        const auto of = [this](Verb verb) { return [this, verb] { return operate(verb); }; };
        add(app_, "pause", "stop repair and new orders; not an explicit leave", of(Verb::pause))
            ->add_option("--for", duration_, "90s, 30m, 2h or 1d; without it until resume")
            ->check([](const std::string& text) {
                const auto duration = cli::duration_from(text);
                return duration ? std::string() : duration.error().what;
            });
        add(app_, "resume", "end a pause, or follow orders again after a leave", of(Verb::resume));
        const auto leave = [this] {
            return no_wait_ ? operate(Verb::leave)
                            : cli::leave({.control = control_socket_, .executor = socket_});
        };
        add(app_, "leave", "release this host and show its progress; without kubexmd, too", leave)
            ->add_flag("--no-wait", no_wait_, "return when kubexmd has accepted it");
        add(app_, "adopt", "keep the node of a held host, and follow the new orders",
            of(Verb::adopt));
        add(app_, "repair", "repair drifted objects now", of(Verb::repair));
    }

    Result<int> operate(model::Verb verb) {
        model::Command command;
        command.verb = verb;
        if (!duration_.empty()) command.duration = TRY(cli::duration_from(duration_));
        command.certificate = certificate_;
        return cli::operate({.control = control_socket_, .executor = socket_}, command);
    }

    void add_plan_commands() {
        auto* preview = add(app_, "preview", "show the changes that a plan would make",
                            [this] { return cli::preview(socket_, plan_, output_); });
        preview->add_option("PLAN", plan_, "file with the plan as JSON")->required();
        add_choice(*preview, "-o,--output", output_, "text, json or diff (the default)",
                   {{"text", cli::Output::text},
                    {"json", cli::Output::json},
                    {"diff", cli::Output::diff}});
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

    void add_certificate_commands() {
        auto* certs =
            app_.add_subcommand("certs", "show the certificates of this host; renew or trust some");
        certs->require_subcommand(0, 1);
        certs->callback([this, certs] {
            if (!certs->get_subcommands().empty()) return;
            chosen_ = [this] { return cli::certificates(api_socket_, form_); };
        });
        add_form(certs);
        add(*certs, "renew", "renew certificates of this host now", [this] {
            return operate(model::Verb::renew);
        })->add_option("NAME", certificate_, "of one certificate; without it all");
        add(*certs, "trust-ca", "trust the CAs of a PEM file, for the API server and its clients",
            [this] { return cli::trust_ca(socket_, bundle_); })
            ->add_option("FILE", bundle_, "CA certificates in PEM")
            ->required();
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

    CLI::App app_{"Shows the status of this host, controls kubexmd, and runs plans on the host.",
                  "kubexmctl"};
    Command chosen_;
    std::string socket_ = "/run/kubexm-executor/executor.sock";
    std::string api_socket_ = "/run/kubexm/kubexmd.sock";
    std::string control_socket_ = "/run/kubexm/control.sock";
    std::string duration_;
    std::string certificate_;
    bool no_wait_ = false;
    cli::Form form_ = cli::Form::text;
    std::string plan_;
    std::vector<std::string> contents_;
    bool replace_ = false;
    cli::Output output_ = cli::Output::diff;
    std::string owner_;
    std::string bundle_;
    unsigned limit_ = 20;
    std::uint32_t minor_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return CommandLine().run(argc, argv); }
