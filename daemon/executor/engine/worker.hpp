#pragma once

#include <chrono>
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

/// The one thread that uses the host and the journal. It has two queues: plans, one at a time, and
/// queries, which are short and also served between the steps of a plan. Both are limited per user;
/// queries are served round robin and few at a time, so that one user blocks neither the others nor
/// a plan.
class Worker {
public:
    using Query = std::move_only_function<void()>;
    using Plan = std::move_only_function<void()>;

    Worker();
    ~Worker() { finish(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Any thread. False: too many queries of this user wait.
    bool query(std::uint32_t user, Query query);
    /// Any thread. False: too many plans wait; one place is reserved for root.
    bool plan(std::uint32_t user, Plan plan);
    /// Any thread. Stops the plan with this id before its next step. False: the plan does not run.
    bool stop_plan(std::string_view id);

    /// Leaves a running plan before its next step, drops both queues, and joins the thread. Called
    /// on the owner's thread.
    void finish();

    /// Any thread. False: the thread is stuck in one step or query.
    bool alive() const;

    // --- worker thread

    /// Marks a plan as running; returns the requests that may stop it.
    Stop begin_plan(std::string id);
    /// Stops the running plan, if there is one, before its next step.
    void stop_plan();
    /// Serves some of the waiting queries.
    void serve_queries();
    /// Serves queries for some time, or until the plan is to stop.
    void serve_queries_for(std::chrono::seconds time, const Stop& stop);

private:
    void run(const std::stop_token& end);
    bool pop_query(Query& query);

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::map<std::uint32_t, std::deque<Query>> queries_;  // by user; none is empty
    std::uint32_t served_ = 0;                            // user of the last query
    std::deque<std::pair<std::uint32_t, Plan>> plans_;
    std::string running_;  // id of the plan
    std::stop_source plan_stop_;
    WorkTimer timer_;
    std::jthread thread_;  // last: uses everything above
};

}  // namespace kubexm::executor
