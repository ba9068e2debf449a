#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/backoff.hpp"
#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/executor/engine/engine.hpp"
#include "daemon/executor/engine/worker.hpp"
#include "daemon/executor/service/bootstrap_watch.hpp"
#include "daemon/executor/service/change_feed.hpp"
#include "daemon/executor/service/session.hpp"
#include "daemon/loop/idle_timer.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::executor {

/// Serves the wire protocol: permits clients and answers their requests. The engine, on the
/// worker's thread, decides about plans. Loop thread.
class Service {
public:
    struct Options {
        uid_t agent_uid = 0;  // the only client besides root
        std::string program;  // "kubexm-executor 0.1.0"
        /// Called with success when plans can be carried out, else with the reason.
        std::function<void(const Result<>&)> on_health;
        std::string bus;  // systemd's, for tests; empty: the system bus
        std::string bootstrap_kubeconfig = "/etc/kubexm/bootstrap-kubeconfig";
        /// The journal is open, and this process is the only one; called once, before on_health.
        std::function<void()> on_open = [] {};
    };

    Service(Loop& loop, Worker& worker, Engine& engine, Options options);

    /// Accepts connections on a listening SOCK_SEQPACKET socket.
    Result<> listen(Fd socket);
    /// Resumes an interrupted plan, if any, and then calls `on_health`. Retries after a transient
    /// fault of the journal.
    void recover();
    /// The process is awake anyway: compares objects that cannot be watched, such as sysctls.
    void on_wake_up() { changes_.on_wake_up(); }
    /// Replaces root's allow-lists, whatever is queued.
    void allow(model::AllowList allow);

private:
    Result<> watch_socket();
    void accept_connection();
    void watch_socket_later();
    void reject(wire::Channel channel, const wire::Peer& peer);
    void on_request(Session& session, std::uint32_t id, wire::Request request,
                    std::vector<Fd> descriptors);
    Result<> check_user(std::uint32_t user) const;
    Result<> check_request(const Session& session, const wire::Request& request,
                           std::size_t descriptors) const;

    /// A request and its sender.
    struct Requester {
        std::uint64_t session = 0;
        std::uint32_t request = 0;
        Caller caller;
    };
    void answer(const Requester& requester, const wire::Hello& hello);
    void answer(const Requester& requester, const wire::Observe&);
    void answer(const Requester& requester, const wire::Preflight& request);
    void answer(const Requester& requester, wire::TrustCa request);
    void answer(const Requester& requester, wire::Preview request);
    void answer(const Requester& requester, wire::Apply request, std::vector<Fd> descriptors);
    void answer(const Requester& requester, const wire::Follow& request);
    void answer(const Requester& requester, const wire::Cancel& request);
    void answer(const Requester& requester, const wire::Undo& request);
    void answer(const Requester& requester, const wire::Repair& request);
    void answer(const Requester& requester, const wire::Subscribe&);
    void answer(const Requester& requester, const wire::History& request);
    void answer(const Requester& requester, const wire::JournalRequest& request);

    using Accept = std::move_only_function<Result<PlanRecord>()>;
    bool queue_plan(const Requester& requester, bool replace, Accept accept);
    /// The id of a plan that does it already, which is then followed instead; empty: none.
    using Check = std::move_only_function<Result<std::string>()>;
    void replace_plan(const Requester& requester, Check check, Accept accept);
    Result<> resume_interrupted(std::optional<std::uint32_t> replaced_by);
    Result<> carry_out(const PlanRecord& record, const Stop& stop);
    void retry_unfinished_undos();
    void retry_undos(std::vector<std::string> owners);
    std::unexpected<Error> report_fault(const Error& fault);
    void begin_events(const PlanRecord& record);

    /// Runs on the worker's thread; its error refuses the request.
    using Query = std::move_only_function<Result<>()>;
    void query(const Requester& requester, Query query);
    /// Any thread. Audited.
    void refuse(const Requester& requester, const Error& why);
    void audit_refusal(const Caller& caller, const Error& why);
    void audit(const Caller& caller, std::string_view event, std::string_view what);
    /// Any thread.
    void reply(const Requester& requester, wire::Reply reply, wire::Part part);
    void send(const Requester& requester, const wire::Reply& reply, wire::Part part);
    void send_to(const Session::Wanted& wanted, const wire::Reply& reply, wire::Part part);
    void send_to_subscribers(const wire::Reply& event);

    void on_report(const wire::StepEvent& event);
    void on_end(const wire::PlanSummary& summary);
    void set_status_soon(std::string text);
    void on_open();
    void on_health(const Result<>& outcome);

    Session* find(std::uint64_t number);
    OpenRequest* find(const Requester& requester);
    void follow(const Requester& requester, const std::string& plan_id);
    void drop_later(std::uint64_t number);

    Loop& loop_;
    Worker& worker_;
    Engine& engine_;
    Options options_;
    bool is_open_ = false;  // the journal
    Fd socket_;
    Loop::Handle source_;
    Loop::Handle listen_again_;
    std::atomic<bool> audit_queued_ = false;  // a query that audits waiting events
    std::uint64_t next_session_ = 1;
    std::map<std::uint64_t, std::unique_ptr<Session>> sessions_;
    std::string current_plan_;                     // the running or the last one
    std::vector<wire::StepEvent> current_events_;  // of that plan, for later followers
    std::optional<wire::PlanSummary> current_end_;
    std::string next_status_;
    Loop::Handle status_timer_;
    Loop::Handle retry_;
    Loop::Handle retry_undos_;
    Backoff backoff_{std::chrono::seconds(1), std::chrono::seconds(60)};
    IdleTimer idle_;
    ChangeFeed changes_;
    BootstrapWatch bootstrap_;
};

}  // namespace kubexm::executor
