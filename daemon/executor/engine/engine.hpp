#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/engine/audit_queue.hpp"
#include "daemon/executor/engine/authorities.hpp"
#include "daemon/executor/engine/confirmed_authorities.hpp"
#include "daemon/executor/engine/contents.hpp"
#include "daemon/executor/engine/drift.hpp"
#include "daemon/executor/engine/joined_clusters.hpp"
#include "daemon/executor/engine/record_store.hpp"
#include "daemon/executor/engine/runner.hpp"
#include "daemon/executor/journal/reserve.hpp"
#include "daemon/executor/preflight/probe.hpp"
#include "daemon/executor/steps/steps.hpp"
#include "daemon/model/allow.hpp"
#include "daemon/model/plan.hpp"
#include "daemon/model/preflight.hpp"

namespace kubexm::executor {

/// The requests that the executor serves, for an authenticated caller. Every refusal is audited.
/// Worker thread.
class Engine {
public:
    Engine(std::string state_directory, const Root& root, Systemd& systemd, model::AllowList allow);

    /// Writes a plan to the journal. denied: not permitted. conflict: the id was used before, or
    /// the plan reached the retry limit and the caller is not root. invalid: content is missing or
    /// has another digest, or the plan is too large to be read back from the journal.
    Result<PlanRecord> accept(const model::Plan& plan, std::span<Content> contents,
                              const Caller& caller);
    /// Writes the undo of everything of an owner to the journal.
    Result<PlanRecord> accept_undo(const std::string& id, const std::string& owner,
                                   const Caller& caller);
    /// The checks of accept() and accept_undo() that are possible while another plan runs. Made
    /// before a running plan is stopped for its replacement, and once more by accept(): the journal
    /// and the allow-lists may have changed in between.
    Result<> acceptable(const model::Plan& plan, std::span<const Content> contents,
                        const Caller& caller);
    Result<> undo_acceptable(const std::string& id, const std::string& owner, const Caller& caller);
    /// All objects that differ from the applied steps of the owners who have not left; undecided
    /// while a plan runs.
    Result<DriftReport> drift();
    /// By owner, the objects that this version would render differently from the version that
    /// applied them. That is no drift: they are as applied, and the next plan renders them anew.
    Result<std::map<std::string, std::vector<std::string>>> pending_renderings();
    /// Writes a plan to the journal that applies the drifted objects of an owner again, as far as
    /// they can be repaired. not_found: no drift. unavailable: the host shuts down or its packages
    /// change. Other errors: why none of them can be repaired.
    Result<PlanRecord> accept_repair(const std::string& id, const std::string& owner,
                                     const Caller& caller);
    /// The checks before a join that fail, without those that root ignores. unavailable: systemd
    /// does not answer.
    Result<std::vector<model::Finding>> preflight(const model::JoinNeeds& needs);
    /// The plan to resume, if one was interrupted.
    Result<std::optional<PlanRecord>> interrupted();

    /// The content of the journal; of a damaged one, the readable part.
    Result<Recovered> journal();
    /// The decision of root about a damaged journal.
    Result<> decide(RecordStore::Decision decision, const Caller& caller);

    /// The decision of root to trust the CAs of a bundle, on this host and for any cluster. denied:
    /// the caller is not root.
    Result<std::vector<pki::Authority>> confirm_authorities(const std::string& pem,
                                                            const Caller& caller);
    /// The CAs of the API server that kubexmd added to a node, and root did not confirm.
    Result<std::vector<pki::Authority>> unconfirmed_authorities();

    Result<PlanState> carry_out(const PlanRecord& record, const Stop& stop,
                                const Runner::Listener& listener);

    Result<PreviewedStep> preview_step(const model::Step& step, const Caller& caller);
    Result<> check(const model::Plan& plan, const Caller& caller);
    Result<PlanRecord> plan(const std::string& id);
    /// The id of the undo that runs or is to be resumed for this owner; empty: none.
    Result<std::string> running_undo(const std::string& owner);
    /// The id of the plan that runs or is to be resumed; empty: none.
    Result<std::string> running_plan();
    Result<std::vector<PlanRecord>> history(std::uint32_t limit);
    /// The outcome of the last plan of each owner and purpose, newest first.
    Result<std::vector<OutcomeRecord>> outcomes();
    /// The failed undos of owners who still have objects and no newer plan.
    Result<std::vector<OutcomeRecord>> unfinished_undos();
    /// Writes one of them to the journal once more, for the user who asked for it. not_found: the
    /// owner has none.
    Result<PlanRecord> undo_again(const std::string& id, const std::string& owner,
                                  const Caller& caller);
    /// By owner, the number of objects in the ledger.
    Result<std::map<std::string, std::uint32_t>> objects();
    Result<UnitStatus> unit(const std::string& name);
    const Root& root() const { return root_; }
    const model::AllowList& allowed() const { return allow_; }
    void allow(model::AllowList allow) { allow_ = std::move(allow); }

    /// For events that happen before a request reaches the engine, or without it. Any thread;
    /// audited with the next write_events(), within a limit.
    void queue_event(const Caller& caller, std::string_view event, std::string_view what);
    void write_events();
    /// Audits an event that is neither a plan nor a refusal. Best effort.
    void note(const Caller& caller, std::string_view event, std::string_view detail);

private:
    Result<PlanRecord> begin(Journal& journal, PlanRecord record, std::uint32_t steps,
                             const Caller& caller);
    Result<> audit_offer(Journal& journal, const PlanRecord& record, const Caller& caller);
    Result<> write_events(Journal& journal);
    Result<> store(Records& records, const model::Plan& plan, std::span<Content> contents,
                   const Caller& caller);
    std::unexpected<Error> refuse(const Caller& caller, const Error& error);
    Result<PreviewedStep> preview_step(Records& records, const model::Step& step);
    Result<std::string> difference_of(Records& records, const LedgerEntry& entry,
                                      const model::Step& applied);
    Result<> add_difference(DriftReport& report, Records& records, const LedgerEntry& entry,
                            const model::Step& applied);
    Result<> can_repair(const Vault& vault, const model::Step& step) const;
    Result<std::string> why_not_repaired(Records& records, const std::string& owner,
                                         const model::Step& step);
    Result<bool> is_settled();
    /// After its contents are in the vault: the sender could change them before.
    using Present = Result<std::optional<PresentCluster>>;
    Result<> check_authorities(Records& records, const model::Plan& plan, const Caller& caller,
                               const Present& found);
    Result<> judge_bundles(Records& records, const model::Plan& plan,
                           const std::optional<PresentCluster>& present);
    Result<> check_join_again(Records& records, const std::string& server,
                              const std::vector<model::DataFile>& bundles);
    Result<> remember_cluster(Records& records);
    /// Before a step of a plan that began when `present` was there.
    Result<> permitted_now(Records& records, const model::Plan& plan, const model::Step& step,
                           const Caller& caller, const Present& present);
    Result<> permitted_again(Records& records, const std::string& owner, const model::Step& step);
    Result<TrustedPins> trusted_pins(const std::string& server) const;
    Result<> check_join(Journal& journal, const model::Plan& plan, const Caller& caller);
    Result<std::vector<model::Finding>> findings(Journal& journal, const model::JoinNeeds& needs);
    Result<model::Plan> repair_plan(Records& records, const std::string& id,
                                    const std::string& owner);

    /// For the release of a host whose disk is full.
    template <typename Work>
    auto with_reserve(const Work& work) {
        auto outcome = work();
        const bool is_full = !outcome && outcome.error().code == Code::exhausted;
        return is_full && reserve_.drop() ? work() : outcome;
    }
    Result<PlanState> run(const PlanRecord& record, const Stop& stop,
                          const Runner::Listener& listener);

    Reserve reserve_;
    ConfirmedAuthorities confirmed_;
    JoinedClusters joined_;
    RecordStore store_;
    const Root& root_;
    Systemd& systemd_;
    model::AllowList allow_;
    AuditQueue events_;
    PreflightProbe probe_;
    KnownDigests digests_;  // of components
};

}  // namespace kubexm::executor
