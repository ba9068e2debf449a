#include "daemon/executor/host/transient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "daemon/executor/host/jobs.hpp"
#include "daemon/executor/host/systemd_impl.hpp"
#include "daemon/executor/host/unit_properties.hpp"

namespace kubexm::executor {

namespace {

Result<> check(const TransientCommand& command) {
    if (!command.unit.ends_with(".service")) {
        return fail(Code::invalid, "a command runs in a unit whose name ends in .service");
    }
    if (command.argv.empty() || !command.argv.front().starts_with('/')) {
        return fail(
            Code::invalid,
            fmt::format("{}: expected a command that begins with an absolute path", command.unit));
    }
    const auto has_nul = [](const std::string& text) { return text.contains('\0'); };
    if (std::ranges::any_of(command.argv, has_nul)) {
        return fail(Code::invalid,
                    fmt::format("{}: expected no NUL byte in the command", command.unit));
    }
    return {};
}

std::string fate(const UnitProperties& ended) {
    if (ended.main_code == 0) return "could not be started";
    if (ended.main_code == CLD_EXITED) return fmt::format("exited with {}", ended.main_status);
    return fmt::format("was ended by signal {}", ended.main_status);
}

/// One run of a command, from the call that starts it to its exit code.
class Run {
public:
    Run(Manager& manager, const JobWatch& watch, const TransientCommand& command,
        bus::Deadline deadline)
        : manager_(manager), watch_(watch), command_(command), deadline_(deadline) {}
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run() { let_go(); }

    Result<std::int32_t> exit_code();

private:
    Result<bool> hold();
    void let_go();
    Result<std::string> find_or_launch();
    Result<std::string> join(const UnitProperties& running);
    Result<std::string> launch();
    Result<std::string> stop();
    Result<std::int32_t> outcome(const std::string& job_result);

    Manager& manager_;
    const JobWatch& watch_;
    const TransientCommand& command_;
    bus::Deadline deadline_;
    bool held_ = false;  // systemd keeps the unit, ended or not, until we let go of it
};

/// False: there is no unit of that name.
Result<bool> Run::hold() {
    auto done = manager_.ask(manager_.request("RefUnit", "s", command_.unit.c_str()), deadline_);
    if (!done && done.error().code == Code::not_found) return false;
    if (!done) return std::unexpected(done.error());
    held_ = true;
    return true;
}

void Run::let_go() {
    if (!held_) return;
    held_ = false;
    // Lost with the connection where this does not get through.
    std::ignore = manager_.ask(manager_.request("UnrefUnit", "s", command_.unit.c_str()), grace());
}

Result<std::string> Run::find_or_launch() {
    auto there = hold();
    if (!there) return std::unexpected(there.error());
    if (!*there) return launch();
    auto found = properties_of_unit(manager_, command_.unit, deadline_);
    if (!found) return std::unexpected(found.error());
    if (found->active != "inactive" && found->active != "failed") return join(*found);
    let_go();
    return launch();
}

/// The job of a run that an earlier one of us started and did not see end.
Result<std::string> Run::join(const UnitProperties& running) {
    const bool is_ours = running.transient && running.commands.size() == 1 &&
                         running.commands.front() == command_.argv;
    if (!is_ours) return fail(Code::conflict, "a unit of that name runs something else");
    if (running.active == "activating" && running.job != "/") return running.job;
    // It is being ended, and its result is lost: wait for that and start anew.
    auto job = stop();
    if (job) job = watch_.end_of(*job, deadline_);
    if (!job) return job;
    let_go();
    return launch();
}

Result<std::string> Run::launch() {
    auto request = manager_.request("StartTransientUnit");
    describe_transient(request, command_, deadline_);
    auto answer = manager_.change(request, deadline_);
    if (!answer) return std::unexpected(answer.error());
    held_ = true;
    return read_text(*answer, "o");
}

Result<std::string> Run::stop() {
    const auto request = manager_.request("StopUnit", "ss", command_.unit.c_str(), "replace");
    auto answer = manager_.change(request, grace());
    if (!answer) return std::unexpected(answer.error());
    return read_text(*answer, "o");
}

Result<std::int32_t> Run::outcome(const std::string& job_result) {
    if (job_result == "canceled") return fail(Code::cancelled, "somebody stopped the command");
    auto ended = properties_of_unit(manager_, command_.unit, grace());
    if (!ended) return std::unexpected(ended.error());
    const bool by_itself = ended->result == "success" || ended->result == "exit-code";
    if (by_itself && ended->main_code == CLD_EXITED) return ended->main_status;
    if (ended->result == "timeout") return fail(Code::timeout, "the command took too long");
    return fail(Code::unavailable,
                fmt::format("the command {} (job {}, unit {}): see journalctl -u {}", fate(*ended),
                            job_result, ended->result, command_.unit));
}

Result<std::int32_t> Run::exit_code() {
    auto job = find_or_launch();
    if (!job) return std::unexpected(job.error());
    auto end = watch_.end_of(*job, deadline_);
    if (end) return outcome(*end);
    // To cancel the job would leave the command running.
    if (end.error().code == Code::timeout) std::ignore = stop();
    return std::unexpected(end.error());
}

}  // namespace

Result<std::int32_t> Systemd::run(const TransientCommand& command, Deadline deadline) {
    if (auto good = check(command); !good) return std::unexpected(good.error());
    auto systemd = impl_->connect_for(command.unit, deadline);
    if (!systemd) return std::unexpected(systemd.error());
    auto watch = JobWatch::begin(**systemd, deadline, impl_->on_wait);
    if (!watch) return std::unexpected(watch.error());
    auto code = Run(**systemd, *watch, command, deadline).exit_code();
    const std::string doing = fmt::format("running {} in {}", command.argv.front(), command.unit);
    if (!code) return during(doing, code.error());
    return code;
}

}  // namespace kubexm::executor
