#include "daemon/executor/host/transient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/jobs.hpp"
#include "daemon/executor/host/systemd_impl.hpp"
#include "daemon/executor/host/unit_properties.hpp"

namespace kubexm::executor {

namespace {

Result<> check(const TransientCommand& command) {
    if (!command.unit.ends_with(".service")) {
        return fail(Code::invalid, "unit of a command: expected a name that ends in .service");
    }
    if (command.argv.empty() || !command.argv.front().starts_with('/')) {
        return fail(Code::invalid,
                    fmt::format("{}: expected a command with an absolute path", command.unit));
    }
    const auto has_nul = [](const std::string& text) { return text.contains('\0'); };
    if (std::ranges::any_of(command.argv, has_nul)) {
        return fail(Code::invalid,
                    fmt::format("{}: expected no NUL byte in the command", command.unit));
    }
    return {};
}

std::string describe_end(const UnitProperties& ended) {
    if (ended.main_code == 0) return "could not be started";
    if (ended.main_code == CLD_EXITED) return fmt::format("exited with {}", ended.main_status);
    return fmt::format("was ended by signal {}", ended.main_status);
}

/// One run of a command, from its start to its exit code.
class Run {
public:
    Run(Manager& manager, const JobWatch& watch, const TransientCommand& command, Deadline deadline)
        : manager_(manager), watch_(watch), command_(command), deadline_(deadline) {}
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run() { unref(); }

    Result<std::int32_t> exit_code();

private:
    Result<bool> ref();
    void unref();
    Result<std::string> attach_or_start();
    Result<std::string> attach(const UnitProperties& running);
    Result<std::string> start();
    Result<std::string> stop();
    Result<std::int32_t> outcome(const std::string& job_result);

    Manager& manager_;
    const JobWatch& watch_;
    const TransientCommand& command_;
    Deadline deadline_;
    bool referenced_ = false;  // systemd keeps a referenced unit after its end
};

/// False: no such unit.
Result<bool> Run::ref() {
    auto done = manager_.ask(manager_.request("RefUnit", "s", command_.unit.c_str()), deadline_);
    if (!done && done.error().code == Code::not_found) return false;
    TRY(std::move(done));
    referenced_ = true;
    return true;
}

void Run::unref() {
    if (!referenced_) return;
    referenced_ = false;
    // On failure the reference ends with the connection.
    std::ignore = manager_.ask(manager_.request("UnrefUnit", "s", command_.unit.c_str()), grace());
}

Result<std::string> Run::attach_or_start() {
    const bool exists = TRY(ref());
    if (!exists) return start();
    const auto found = TRY(properties_of_unit(manager_, command_.unit, deadline_));
    if (found.active != "inactive" && found.active != "failed") return attach(found);
    unref();
    return start();
}

/// The job of a command that an interrupted run started.
Result<std::string> Run::attach(const UnitProperties& running) {
    const bool is_ours = running.transient && running.commands.size() == 1 &&
                         running.commands.front().argv == command_.argv;
    if (!is_ours) return fail(Code::conflict, "another command runs in the unit");
    if (running.active == "activating" && running.job != "/") return running.job;
    // The unit is stopping and its result is lost: wait for its end and start again.
    const std::string job = TRY(stop());
    TRY(watch_.result_of(job, deadline_));
    unref();
    return start();
}

Result<std::string> Run::start() {
    auto request = manager_.request("StartTransientUnit");
    add_transient(request, command_, deadline_);
    const auto reply = TRY(manager_.change(request, deadline_));
    referenced_ = true;
    return read_text(reply, "o");
}

Result<std::string> Run::stop() {
    const auto request = manager_.request("StopUnit", "ss", command_.unit.c_str(), "replace");
    const auto reply = TRY(manager_.change(request, grace()));
    return read_text(reply, "o");
}

Result<std::int32_t> Run::outcome(const std::string& job_result) {
    if (job_result == "canceled") {
        return fail(Code::cancelled, "the unit of the command was stopped");
    }
    const auto ended = TRY(properties_of_unit(manager_, command_.unit, grace()));
    const bool exited = ended.result == "success" || ended.result == "exit-code";
    if (exited && ended.main_code == CLD_EXITED) return ended.main_status;
    if (ended.result == "timeout") {
        return fail(
            Code::timeout,
            fmt::format("unit {}: expected the command to end before its deadline; it was ended",
                        command_.unit));
    }
    return fail(Code::unavailable,
                fmt::format("the command {} (job {}, unit {}); see journalctl -u {}",
                            describe_end(ended), job_result, ended.result, command_.unit));
}

Result<std::int32_t> Run::exit_code() {
    const std::string job = TRY(attach_or_start());
    auto result = watch_.result_of(job, deadline_);
    // Cancelling the job would leave the command running.
    if (!result && result.error().code == Code::timeout) std::ignore = stop();
    const std::string job_result = TRY(std::move(result));
    return outcome(job_result);
}

}  // namespace

Result<std::int32_t> Systemd::run(const TransientCommand& command, Deadline deadline) {
    TRY(check(command));
    Manager* systemd = TRY(impl_->connect_for(command.unit, deadline));
    const auto watch = TRY(JobWatch::begin(*systemd, deadline, impl_->waits_for(command.unit)));
    auto code = Run(*systemd, watch, command, deadline).exit_code();
    const std::string doing = fmt::format("running {} in {}", command.argv.front(), command.unit);
    if (!code) return during(doing, code.error());
    return code;
}

}  // namespace kubexm::executor
