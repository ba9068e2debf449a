#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemon/agent/executor_port.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::agent {

/// An executor in memory: owners with outcomes, one plan at a time. Plans end at once unless
/// `holds_plans` is set.
class SimulatedExecutor : public ExecutorPort {
public:
    static constexpr std::uint32_t kAgentUid = 990;

    explicit SimulatedExecutor(Loop& loop) : loop_(loop) {}
    void ask(wire::Request request, std::vector<Fd> contents, Handler handler) override;

    /// Ends the running plan.
    void end_plan(model::PlanState state, const std::string& error = "");
    /// What root does with `kubexmctl undo OWNER` and `kubexmctl apply`.
    void undo_as_root(const std::string& owner);
    void apply_as_root(const std::string& owner);
    /// The connection is lost: every open request fails. Plans go on; new requests wait.
    void lose_connection();
    void regain_connection();
    /// The process that sent the waiting requests is gone.
    void drop_waiting() { waiting_.clear(); }
    /// The objects of `owner` are on the host, joined for the wanted state.
    void add_node(const std::string& owner, const std::string& wanted);
    bool has(const std::string& owner) const;
    /// Somebody changed objects on the host; empty: they are as applied.
    void set_drift(std::vector<wire::DriftedObject> objects);
    /// Root replaced the bootstrap kubeconfig.
    void pass_bootstrap(const std::string& kubeconfig);

    /// CAs that a plan added; empty: root confirmed them.
    void set_unconfirmed(std::vector<wire::AuthorityView> authorities);

    std::vector<model::Plan> applied;
    std::vector<std::string> undone;     // owners
    std::vector<std::string> cancelled;  // plans
    std::vector<std::string> repaired;   // owners
    std::vector<model::Remaining> stays;
    std::vector<model::Finding> findings;  // of every preflight
    std::vector<std::string> pending;      // objects of every owner, until the next plan is done
    std::string kubelet = "active";        // state of its unit
    bool holds_plans = false;
    std::string fails_with;  // every plan
    bool connected = true;
    /// Seconds since 1970.
    std::function<std::int64_t()> now = [] { return std::int64_t{0}; };
    /// A plan has ended well.
    std::function<void(const model::Plan&)> on_done = [](const model::Plan&) {};

private:
    struct Open {
        std::string plan;
        Handler handler;
    };
    void answer(const wire::Request& request, Handler handler);
    void begin(const model::Plan& plan, Handler handler);
    void report_end(const std::string& plan);
    wire::PlanSummary summary_of(const std::string& plan) const;
    void set_outcome(const std::string& owner, wire::Outcome outcome);
    wire::ObservedOwner& owner_named(const std::string& name);

    Loop& loop_;
    std::vector<wire::ObservedOwner> owners_;
    model::Plan running_;
    std::vector<Open> follows_;
    std::vector<std::pair<wire::Request, Handler>> waiting_;
    Handler subscriber_;
    std::vector<wire::DriftedObject> drift_;
    std::vector<wire::AuthorityView> unconfirmed_;
};

}  // namespace kubexm::agent
