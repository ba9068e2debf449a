#include "examples.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/model/plan_states.hpp"
#include "fault_vfs.hpp"
#include "scratch.hpp"

namespace kubexm::executor {

namespace {

std::string line(const PlanRecord& plan) {
    std::string text =
        fmt::format("plan {} {} {} {} {} {} {} {}:", plan.id, plan.hash, plan.owner, plan.document,
                    name_of(plan.state), name_of(plan.purpose), plan.failures, plan.last_error);
    for (const StepRecord& step : plan.steps) {
        text += fmt::format(" {} {} {},", step.index, name_of(step.state), step.error);
    }
    return text + "\n";
}

std::string line(const LedgerEntry& entry) {
    std::string text =
        fmt::format("ledger {} {} {} {} {} {} {}:", entry.sequence, entry.type, entry.target,
                    entry.step, entry.applied, entry.written, entry.pre_image);
    for (const LedgerOwner& owner : entry.owners) {
        text +=
            fmt::format(" {} {} {} {},", owner.sequence, owner.owner, owner.step, owner.plan_id);
    }
    return text + "\n";
}

std::string line(const OutcomeRecord& record) {
    return fmt::format("outcome {} {} {} {} {} {} {} {} {}\n", record.sequence, record.owner,
                       name_of(record.purpose), record.plan_id, record.wanted, record.uid,
                       name_of(record.state), record.error, record.stays);
}

std::string line(const AuditRecord& record) {
    return fmt::format("audit {} {} {} {} {}\n", record.sequence, record.uid, record.pid,
                       record.event, record.detail);
}

template <typename Records>
std::string lines(const Result<Records>& records) {
    if (!records) return "error: " + records.error().what + "\n";
    std::string text;
    for (const auto& record : *records) text += line(record);
    return text;
}

Action begin(const std::string& id, const std::string& owner = "owner") {
    return {"begin " + id, [=](Journal& journal) {
                PlanRecord plan = plan_named(id);
                plan.owner = owner;
                return journal.begin(plan, 2);
            }};
}

Action prepare(const std::string& id, std::uint32_t index, const std::string& target) {
    return {"prepare " + target,
            [=](Journal& journal) { return prepare(journal, id, step_for(target, index)); }};
}

Action finish(const std::string& id, std::uint32_t index, StepState state) {
    return {"finish " + id,
            [=](Journal& journal) { return finish(journal, id, index, state, "why"); }};
}

Action forget(const std::string& id, std::uint32_t index) {
    return {"forget " + id, [=](Journal& journal) {
                return journal.record(id, {.forgotten = {{index, std::nullopt}}});
            }};
}

Action reapply(std::int64_t sequence) {
    return {"reapply",
            [=](Journal& journal) { return journal.reapplying(sequence, "again", "digest"); }};
}

Action end(const std::string& id, PlanState state, const std::string& error) {
    return {"end " + id, [=](Journal& journal) { return journal.end(id, {state, error}); }};
}

Action undo(const std::string& id, std::int64_t sequence) {
    return {"undo", [=](Journal& journal) { return undo(journal, id, sequence); }};
}

Action audit(const std::string& detail) {
    return {"audit", [=](Journal& journal) { return journal.audit(990, 4711, "refused", detail); }};
}

}  // namespace

std::string content_of(Journal& journal) {
    std::string text = lines(journal.history(100)) + lines(journal.outcomes()) +
                       lines(journal.ledger("")) + lines(journal.audit_trail(100));
    for (const char* error : {"first way", "second way"}) {
        const auto failures = journal.failures("hash", error);
        text += failures ? fmt::format("{}: {}\n", error, failures->count) : failures.error().what;
    }
    const auto running = journal.running();
    if (!running) return text + running.error().what;
    return text + "running " + running->value_or(PlanRecord{}).id;
}

const std::vector<Action>& actions() {
    static const std::vector<Action> all{
        begin("a"),
        prepare("a", 0, "net.ipv4.ip_forward"),
        finish("a", 0, StepState::done),
        prepare("a", 1, "vm.overcommit_memory"),
        finish("a", 1, StepState::failed),
        end("a", PlanState::failed, "first way"),
        audit("one"),
        begin("b", "other"),
        prepare("b", 0, "net.ipv4.ip_forward"),
        finish("b", 0, StepState::done),
        prepare("b", 1, "kernel.panic"),
        forget("b", 1),
        reapply(1),
        undo("b", 1),
        end("b", PlanState::failed, "first way"),
        undo("a", 2),
        audit("two"),
        begin("c"),
        finish("c", 0, StepState::skipped),
        end("c", PlanState::done, ""),
        audit("three"),
        audit("four"),
        begin("d"),
        end("d", PlanState::undone, ""),
    };
    return all;
}

void commit_to_log_only(const Scratch& scratch, FaultVfs& vfs,
                        const std::function<Result<>(Journal&)>& act) {
    const Scratch before;
    before.become(scratch);
    for (int at = 1;; ++at) {
        scratch.become(before);
        const pid_t child = ::fork();
        if (child == 0) {
            auto journal = Journal::open(scratch.path(), kNarrow);
            vfs.arm({.fault = FaultVfs::Fault::io_error, .at = at, .lasting = true});
            ::_exit(journal && act(*journal) ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (status == 0) return;
    }
}

std::vector<std::string> contents_after_actions() {
    const Scratch scratch;
    Journal journal = Journal::open(scratch.path(), kNarrow).value();
    std::vector<std::string> contents{content_of(journal)};
    for (const Action& action : actions()) {
        const auto done = action.act(journal);
        EXPECT_TRUE(done) << action.name << ": " << done.error().what;
        contents.push_back(content_of(journal));
        EXPECT_NE(contents.back(), contents[contents.size() - 2])
            << action.name << " changed nothing";
    }
    return contents;
}

}  // namespace kubexm::executor
