#pragma once

#include <chrono>
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
    /// The executor tries to undo what is left of an owner.
    void undo_again(const std::string& owner);
    /// Those that it holds, the newest first. Each shows the host as it was when it was asked for.
    void answer_observations();
    /// The connection is lost: every open request fails. Plans go on; new requests wait.
    void lose_connection();
    void regain_connection();
    /// The process that sent the waiting requests is gone.
    void drop_waiting() { waiting_.clear(); }
    /// The objects of `owner` are on the host, joined for the wanted state.
    void add_node(const std::string& owner, const std::string& wanted);
    bool has(const std::string& owner) const;
    /// An event is too large for a frame: nothing is reported until the next subscription.
    void end_subscription();
    /// Somebody changed objects on the host; empty: they are as applied.
    void set_drift(std::vector<wire::DriftedObject> objects);
    /// The new state of some units.
    void change_permits(model::Permits permits);
    void change_units(std::vector<wire::ObservedUnit> units);
    /// Root replaced the bootstrap kubeconfig; who subscribes later gets it, too.
    void pass_bootstrap(const std::string& kubeconfig);

    /// CAs that a plan added; empty: root confirmed them.
    void set_unconfirmed(std::vector<wire::AuthorityView> authorities);

    std::vector<model::Plan> applied;
    std::vector<std::string> undone;     // owners
    std::vector<std::string> cancelled;  // plans
    std::vector<std::string> repaired;   // owners
    /// Of each request that changes something, for whom it was: "undo for user 4711, control".
    std::vector<std::string> askers;
    std::vector<model::Remaining> stays;      // of every undo
    std::vector<model::Remaining> leftovers;  // what every undo tries in vain
    std::vector<model::Finding> findings;     // of every preflight
    std::vector<std::string> ignored;         // of its checks, by root
    std::vector<std::string> pending;         // objects of every owner, until the next plan is done
    std::string kubelet = "active";           // state of its unit
    bool holds_plans = false;
    bool holds_observations = false;
    /// After the end of a plan, until it has compared the host again.
    std::chrono::milliseconds until_drift{0};
    std::string fails_with;  // every plan
    std::string refuses_repair_with;
    int fail_in = 0;                  // the n-th request from now is refused, once; 0: none
    bool ends_subscriptions = false;  // at once
    int subscriptions = 0;            // so far
    std::string refuses_apply_with;
    Code refuses_apply_as = Code::denied;
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
    void send_bootstrap();
    wire::Observation observe() const;
    void note_asker(const wire::Request& request);
    void begin(const model::Plan& plan, Handler handler);
    void end_plan_as_expected();
    bool is_left(const std::string& owner);
    void report_end(const std::string& plan);
    void compare_host();
    wire::PlanSummary summary_of(const std::string& plan) const;
    void set_outcome(const std::string& owner, wire::Outcome outcome);
    wire::ObservedOwner& owner_named(const std::string& name);

    Loop& loop_;
    std::vector<wire::ObservedOwner> owners_;
    model::Plan running_;
    std::vector<Open> follows_;
    std::vector<std::pair<wire::Request, Handler>> waiting_;
    std::vector<std::pair<wire::Observation, Handler>> observations_;
    Handler subscriber_;
    std::string bootstrap_;  // of root, since the start
    int undos_by_root_ = 0;
    std::vector<wire::DriftedObject> drift_;
    Loop::Handle comparison_;
    std::vector<wire::AuthorityView> unconfirmed_;
    model::Permits permits_{model::Permit::any, model::Permit::any};
};

}  // namespace kubexm::agent
