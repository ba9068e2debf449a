// Commands that PID 1 runs once.

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/refusal.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/steps/kinds.hpp"
#include "daemon/executor/steps/rules.hpp"

namespace kubexm::executor::kinds {

namespace {

/// Not a unit of another owner, an instance of a template, or the executor.
bool is_transient_name(std::string_view name) {
    constexpr std::size_t kMaxName = 128;
    return name.starts_with("kubexm-") && name.ends_with(".service") &&
           name != "kubexm-executor.service" && name.size() <= kMaxName &&
           made_of(name, is_name_character);
}

}  // namespace

Result<> permitted(const model::AllowList& allow, const model::TransientUnit& step) {
    if (!is_transient_name(step.name)) {
        TRY(refusal("transient-names", Code::denied,
                    fmt::format("unit {}: expected a name kubexm-*.service of letters, digits and "
                                ". _ -, and not the executor's",
                                step.name)));
    }
    if (step.argv.empty()) return fail(Code::invalid, "argv: expected a command, found none");
    constexpr auto kLongest = model::TransientUnit::kTraits.deadline;
    if (step.timeout_seconds == 0 || std::chrono::seconds(step.timeout_seconds) > kLongest) {
        return fail(Code::invalid, fmt::format("timeout_seconds: expected 1 to {}, found {}",
                                               kLongest.count(), step.timeout_seconds));
    }
    return listed(allow.executables, step.argv.front(), "executables");
}

/// True when the ledger has this very command.
Result<bool> holds(Context& context, const model::TransientUnit& step) {
    return context.previous == model::Step(step);
}

Result<PreImage> capture(Context&, const model::TransientUnit&) { return NoPreImage{}; }

Result<> apply(Context& context, const model::TransientUnit& step) {
    const Deadline limit =
        std::chrono::steady_clock::now() + std::chrono::seconds(step.timeout_seconds);
    const int code = TRY(context.systemd.run({step.name, model::text_of(step), step.argv}, limit));
    if (code == 0) return {};
    return fail(Code::unavailable, fmt::format("{} ended with exit code {}: see journalctl -u {}",
                                               step.argv.front(), code, step.name));
}

Result<std::string> undo(Context&, const model::TransientUnit&, const PreImage&) {
    return std::string();
}

Result<Lines> preview(Context&, const model::TransientUnit& step) {
    return Lines{model::text_of(step)};
}

}  // namespace kubexm::executor::kinds
