#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/executor/engine/engine.hpp"
#include "daemon/executor/engine/worker.hpp"
#include "daemon/executor/service/session.hpp"
#include "daemon/loop/idle_timer.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::executor {

/// The executor's side of the wire: who may speak, what is asked, and the answers. Decides nothing
/// about the host: that is the engine's, on the worker's thread. Loop thread.
class Service {
public:
    struct Options {
        uid_t front_uid = 0;  // besides root, the only one who may speak
        std::string program;  // "kubexm-executor 0.1.0"
        /// Told whenever it becomes known that plans can be carried out, or why not.
        std::function<void(const Result<>&)> on_health;
    };

    Service(Loop& loop, Worker& worker, Engine& engine, Options options);

    /// Takes connections from a listening SOCK_SEQPACKET socket.
    Result<> listen(Fd socket);
    /// Goes on with a plan that an earlier process was interrupted in, if there is one, and tells
    /// `on_health` when that is over. Tries again by itself where the journal has a fault that may
    /// pass.
    void recover();

private:
    Result<> hear_connections();
    void accept_connection();
    void hear_later();
    void turn_away(wire::Channel channel, const wire::Peer& peer);
    void on_request(Session& session, wire::Request request, std::vector<Fd> descriptors);
    void answer(Session& session, const wire::Hello& hello);
    void answer(Session& session, const wire::Observe&);
    void answer(Session& session, wire::Preview request);
    void answer(Session& session, wire::Apply request, std::vector<Fd> descriptors);
    void answer(Session& session, const wire::Follow& request);
    void answer(Session& session, const wire::Cancel& request);
    void answer(Session& session, const wire::Undo& request);
    void answer(Session& session, const wire::History& request);
    void answer(Session& session, const wire::Journal& request);
    void tell_journal(std::uint64_t session);

    /// Who asked, and where the answer goes.
    struct Asker {
        std::uint64_t session = 0;
        Caller caller;
    };
    using Accept = std::move_only_function<Result<PlanRecord>()>;
    bool queue_plan(const Asker& asker, bool replace, Accept accept);
    using Check = std::move_only_function<Result<>()>;
    void replace_plan(const Asker& asker, Check check, Accept accept);
    Result<> go_on(bool replaced);
    Result<> carry_out(const PlanRecord& record, const Stop& stop);
    void begin_events(const std::string& plan_id);

    void look(Session& session, Worker::Query look);
    bool begins_offer(Session& session);
    void end_offer(const Asker& asker, wire::Reply reply);
    void turn_down(const Asker& asker, const Error& why);
    void write_down(Caller caller, const Error& refusal);
    void refuse(Session& session, const Error& why);

    // From the worker's thread to the loop's.
    void tell(std::uint64_t session, wire::Reply reply);
    void on_report(const wire::StepEvent& event);
    void on_end(const wire::PlanSummary& summary);
    void on_health(const Result<>& outcome);

    Session* find(std::uint64_t number);
    void drop_later(std::uint64_t number);

    Loop& loop_;
    Worker& worker_;
    Engine& engine_;
    Options options_;
    Fd socket_;
    Loop::Handle source_;
    Loop::Handle listen_again_;
    std::atomic<bool> writes_down_ = false;  // a look for the refusals that wait is queued
    std::uint64_t next_session_ = 1;
    std::map<std::uint64_t, std::unique_ptr<Session>> sessions_;
    std::string current_plan_;                     // running, or the last that ran
    std::vector<wire::StepEvent> current_events_;  // of that plan, for those who follow later
    std::optional<wire::PlanSummary> current_end_;
    Loop::Handle retry_;
    std::chrono::milliseconds retry_delay_{};
    IdleTimer rest_;
};

inline Caller caller_of(const Session& session) { return {session.peer().uid, session.peer().pid}; }

}  // namespace kubexm::executor
