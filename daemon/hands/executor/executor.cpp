#include "daemon/hands/executor/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>
#include <tuple>

#include "daemon/hands/executor/policy.hpp"
#include "daemon/hands/steps/steps.hpp"

namespace kubexm::hands {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kMostHistory = 200;
constexpr std::uint32_t kTries = 3;
constexpr std::int64_t kRearmSeconds = 3600;
constexpr std::uint64_t kMaxContent = std::uint64_t{4} << 20U;
constexpr std::uint64_t kMaxBinary = std::uint64_t{1} << 30U;
constexpr auto kLookDeadline = 20s;

/// The digests of content that the steps of a plan need, and how large each may be.
std::map<std::string, std::uint64_t> needed_contents(const model::Plan& plan) {
    std::map<std::string, std::uint64_t> needed;
    for (const model::Step& step : plan.steps) {
        const bool binary = std::holds_alternative<model::ComponentVersion>(step);
        for (const std::string& digest : model::contents_of(step)) {
            needed.emplace(digest, binary ? kMaxBinary : kMaxContent);
        }
    }
    return needed;
}

/// Whether content must come along: a component may be in place already, its step will tell.
bool must_come_along(const model::Plan& plan, const std::string& digest) {
    return std::any_of(plan.steps.begin(), plan.steps.end(), [&](const model::Step& step) {
        const auto contents = model::contents_of(step);
        return !std::holds_alternative<model::ComponentVersion>(step) &&
               std::find(contents.begin(), contents.end(), digest) != contents.end();
    });
}

}  // namespace

Executor::Executor(std::string state_directory, const Root& root, Systemd& systemd,
                   model::AllowList allow)
    : directory_(std::move(state_directory)),
      root_(root),
      systemd_(systemd),
      allow_(std::move(allow)) {}

Result<> Executor::ensure_open() {
    if (!journal_) {
        auto journal = Journal::open(directory_, {});
        if (!journal) return put_aside(journal.error());
        journal_ = *std::move(journal);
    }
    if (vault_) return {};
    // After the journal, whose lock says that no other process writes here.
    auto vault = Vault::open(directory_ + "/content");
    if (!vault) return std::unexpected(vault.error());
    vault_ = *std::move(vault);
    return {};
}

/// A damaged journal gets another name before anybody can write to it; other faults may pass.
std::unexpected<Error> Executor::put_aside(const Error& damage) {
    if (damage.code != Code::corrupt) return std::unexpected(damage);
    auto moved = set_aside(directory_);
    if (!moved && moved.error().code == Code::not_found) return std::unexpected(damage);  // it was
    if (!moved) return std::unexpected(moved.error());
    return fail(Code::corrupt,
                fmt::format("{}; it is set aside as {}: decide with kubexmctl journal show, "
                            "restore or discard",
                            damage.what, *moved));
}

void Executor::note_refusal(Caller caller, std::string_view what) {
    refusals_.add(caller, what, std::chrono::steady_clock::now());
}

void Executor::write_refusals() {
    if (!ensure_open()) return;  // they wait; without a journal every change is refused anyway
    while (const auto next = refusals_.first()) {
        const auto& [caller, what] = *next;
        if (!journal_->audit(caller.uid, caller.pid, "refused", what)) return;
        refusals_.written();
    }
}

std::unexpected<Error> Executor::refuse(Caller caller, const Error& error) {
    note_refusal(caller, error.what);
    write_refusals();
    return std::unexpected(error);
}

Result<> Executor::check(const model::Plan& plan, Caller caller) {
    if (auto good = permitted(plan, allow_); !good) return refuse(caller, good.error());
    return {};
}

/// The same work that failed the same way too often is only tried again after an hour or by root.
Result<> Executor::not_given_up(const model::Plan& plan, Caller caller) {
    if (caller.uid == 0) return {};
    const std::string hash = model::hash_of(plan);
    auto past = journal_->history(kMostHistory);
    if (!past) return std::unexpected(past.error());
    const auto last = std::find_if(past->begin(), past->end(), [&](const PlanRecord& record) {
        return record.hash == hash && record.state == PlanState::failed;
    });
    if (last == past->end()) return {};
    auto failures = journal_->failures(hash, last->last_error);
    if (!failures) return std::unexpected(failures.error());
    const std::int64_t wait = failures->last_at + kRearmSeconds - std::time(nullptr);
    if (failures->count < kTries || wait <= 0) return {};
    return fail(
        Code::conflict,
        fmt::format("this plan failed {} times the same way ({}); it is tried again when its "
                    "input changes, when root asks, or in {} minutes",
                    failures->count, last->last_error, wait / 60 + 1));
}

Result<> Executor::keep_contents(const model::Plan& plan, std::span<Content> contents) {
    const auto needed = needed_contents(plan);
    auto missing = needed;
    for (Content& content : contents) {
        const auto limit = needed.find(content.digest);
        if (limit == needed.end()) {
            return fail(Code::invalid, "content came along that no step of the plan needs");
        }
        auto kept = vault_->keep(content.bytes.get(), content.digest, limit->second);
        if (!kept) return kept;
        missing.erase(content.digest);
    }
    // Not from the vault, which also has what was there before us: to know the digest of a file of
    // root's is no right to have it written where others read it.
    for (const auto& [digest, limit] : missing) {
        if (!must_come_along(plan, digest)) continue;
        return fail(Code::invalid,
                    fmt::format("the content with SHA-256 {} did not come along", digest));
    }
    return {};
}

/// What came with a plan that was refused does not stay: it would be a way to fill the disk.
void Executor::forget_unused_contents() {
    const auto running = journal_->running();
    if (!running || *running) return;  // that one needs what the ledger does not know yet
    std::ignore = forget_unused_content(*journal_, *vault_);
}

Result<PlanRecord> Executor::take_in(PlanRecord record, std::uint32_t steps, Caller caller) {
    record.started_at = record.changed_at = std::time(nullptr);
    // Written down first: a plan that runs and that nobody asked for must not be possible.
    auto audited =
        journal_->audit(caller.uid, caller.pid, "plan offered", record.id + " " + record.hash);
    if (!audited) return std::unexpected(audited.error());
    if (auto begun = journal_->begin(record, steps); !begun) return refuse(caller, begun.error());
    return journal_->plan(record.id);
}

Result<PlanRecord> Executor::accept(const model::Plan& plan, std::span<Content> contents,
                                    Caller caller) {
    if (auto open = ensure_open(); !open) return std::unexpected(open.error());
    if (auto good = check(plan, caller); !good) return std::unexpected(good.error());
    if (auto good = not_given_up(plan, caller); !good) return refuse(caller, good.error());
    auto kept = keep_contents(plan, contents);
    auto taken = kept ? take_in({.id = plan.id,
                                 .hash = model::hash_of(plan),
                                 .owner = plan.owner,
                                 .document = model::to_json(plan)},
                                static_cast<std::uint32_t>(plan.steps.size()), caller)
                      : refuse(caller, kept.error());
    if (!taken) forget_unused_contents();
    return taken;
}

Result<PlanRecord> Executor::accept_undo(const std::string& id, const std::string& owner,
                                         Caller caller) {
    if (auto open = ensure_open(); !open) return std::unexpected(open.error());
    if (owner.empty()) {
        return refuse(caller, {Code::invalid, "undo needs the owner whose things go"});
    }
    const model::Plan nothing{id, owner, {}};
    if (auto valid = model::plan_from_json(model::to_json(nothing)); !valid) {
        return refuse(caller, valid.error());
    }
    return take_in({.id = id,
                    .hash = model::hash_of(nothing),
                    .owner = owner,
                    .document = model::to_json(nothing),
                    .undoing = true},
                   0, caller);
}

Result<std::optional<PlanRecord>> Executor::interrupted() {
    if (auto open = ensure_open(); !open) return std::unexpected(open.error());
    auto running = journal_->running();
    if (!running || *running) return running;
    // Whoever ended the last plan may have been cut off before this.
    auto cleaned = forget_unused_content(*journal_, *vault_);
    if (!cleaned) return std::unexpected(cleaned.error());
    return running;
}

Result<PlanState> Executor::carry_out(const PlanRecord& record, const Stop& stop,
                                      const Runner::Listener& listener) {
    if (auto open = ensure_open(); !open) return std::unexpected(open.error());
    Runner runner({*journal_, *vault_, root_, systemd_}, listener);
    auto state = runner.run(record, stop);
    if (!state) journal_.reset();  // it is looked at from the beginning before it is used again
    return state;
}

Result<Salvage> Executor::sound_journal() {
    auto entries = journal_->ledger("");
    if (!entries) return std::unexpected(entries.error());
    auto plans = journal_->history(kMostHistory);
    if (!plans) return std::unexpected(plans.error());
    return Salvage{"", *std::move(entries), *std::move(plans), {}};
}

Result<Salvage> Executor::journal() {
    auto open = ensure_open();
    if (open) return sound_journal();
    if (open.error().code != Code::corrupt) return std::unexpected(open.error());
    return salvage(directory_, "");
}

Result<> Executor::decide(Decision decision, Caller caller) {
    if (caller.uid != 0) {
        return refuse(caller, {Code::denied, "only root decides about a damaged journal"});
    }
    if (ensure_open()) return fail(Code::conflict, "the journal is sound: nothing is to decide");
    if (decision == Decision::discard) return discard(directory_, caller.uid, caller.pid);
    auto restored = restore(directory_, caller.uid, caller.pid);
    if (!restored) return std::unexpected(restored.error());
    return {};
}

Result<Foreseen> Executor::foresee(const model::Step& step) {
    if (auto open = ensure_open(); !open) return std::unexpected(open.error());
    auto entry = journal_->ledger_entry(model::type_of(step), model::target_of(step));
    if (!entry) return std::unexpected(entry.error());
    Context context{root_, systemd_, *vault_, std::chrono::steady_clock::now() + kLookDeadline, {}};
    if (const std::optional<LedgerEntry>& known = *entry; known && !known->applied.empty()) {
        auto previous = model::step_from_json(known->applied);
        if (previous) context.previous = *std::move(previous);
    }
    auto already = holds(context, step);
    if (!already) return std::unexpected(already.error());
    auto lines = preview(context, step);
    if (!lines) return std::unexpected(lines.error());
    return Foreseen{*already, *std::move(lines)};
}

Result<PlanRecord> Executor::plan(const std::string& id) {
    if (auto open = ensure_open(); !open) return std::unexpected(open.error());
    return journal_->plan(id);
}

Result<std::vector<PlanRecord>> Executor::history(std::uint32_t limit) {
    if (auto open = ensure_open(); !open) return std::unexpected(open.error());
    return journal_->history(std::min(limit, kMostHistory));
}

Result<std::vector<std::string>> Executor::owners() {
    if (auto open = ensure_open(); !open) return std::unexpected(open.error());
    auto entries = journal_->ledger("");
    if (!entries) return std::unexpected(entries.error());
    std::set<std::string> names;
    for (const LedgerEntry& entry : *entries) names.insert(entry.owner);
    return std::vector<std::string>(names.begin(), names.end());
}

Result<UnitStatus> Executor::unit(const std::string& name) {
    return systemd_.status(name, std::chrono::steady_clock::now() + kLookDeadline);
}

}  // namespace kubexm::hands
