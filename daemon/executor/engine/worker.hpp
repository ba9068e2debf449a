#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "daemon/base/work_timer.hpp"
#include "daemon/executor/engine/stop.hpp"

namespace kubexm::executor {

/// The one thread on which everything that touches the host or the journal happens, in order.
/// Two lines of work: plans, one at a time; and queries, which are short and also served between the
/// steps of a plan. Every user has a share of both, queries are served in turn, and never so many
/// that a plan does not come to its next step: a flood of one user holds up nobody else.
class Worker {
public:
    using Query = std::move_only_function<void()>;
    using Plan = std::move_only_function<void()>;

    Worker();
    ~Worker() { finish(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Any thread. False: as many queries of this user wait already as may.
    bool query(std::uint32_t user, Query query);
    /// Any thread. False: as many plans wait already as may; there is always room for one of root.
    bool plan(std::uint32_t user, Plan plan);
    /// Any thread. The plan of this id stops at its next step boundary. False: it does not run.
    bool stop_plan(std::string_view id);

    /// Asks a running plan to leave at its next step, drops what waits, and waits for the thread:
    /// nothing of this worker runs any more afterwards. The owner's thread.
    void finish();

    /// Any thread. False: the thread is stuck in one piece of work for longer than any may take.
    bool alive() const;

    // --- the worker's own thread

    /// From now on a plan of this id runs; what may stop it.
    Stop begin_plan(std::string id);
    /// The plan that runs, if one does, stops at its next step boundary.
    void stop_plan();
    /// Between steps: serves some of the queries that wait.
    void serve_queries();

private:
    void run(const std::stop_token& end);
    bool pop_query(Query& query);

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::map<std::uint32_t, std::deque<Query>> queries_;  // by user; none is empty
    std::uint32_t served_ = 0;                         // whose query was the last
    std::deque<std::pair<std::uint32_t, Plan>> plans_;
    std::string running_;  // id of the plan
    std::stop_source plan_stop_;
    WorkTimer pulse_;
    std::jthread thread_;  // last: it uses everything above
};

}  // namespace kubexm::executor
