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
#include <thread>
#include <utility>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/base/refusal.hpp"
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
    using RunPlan = std::move_only_function<void()>;

    Worker();
    ~Worker() { finish(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Any thread. False: too many queries of this user wait.
    bool query(std::uint32_t user, Query query);
    /// Any thread. Without limit: an order of root that is no request, such as a reload.
    void query_of_root(Query query);
    /// Any thread. False: too many plans wait; one place is reserved for root. `drop` is called
    /// instead of `plan` where root's request goes first.
    bool plan(std::uint32_t user, RunPlan plan, RunPlan drop = [] {});
    /// Any thread. Drops the waiting plans of all other users. False: too many of root's wait.
    bool plan_of_root(RunPlan plan);
    /// Any thread. Stops the plan with this id before its next step. False: it was to stop already.
    /// not_found: it does not run. denied: it is root's, and the user is not.
    Result<bool> stop_plan(const std::string& id, std::uint32_t user);

    /// Leaves a running plan before its next step, drops both queues, and joins the thread. Called
    /// on the owner's thread.
    void finish();

    /// Any thread. False: the thread is stuck in one step or query.
    bool alive() const;

    // --- worker thread

    /// Marks a plan as running; returns the requests that may stop it.
    Stop begin_plan(std::string id, std::uint32_t user);
    /// Stops the running plan, if there is one, before its next step. Another user's request does
    /// not stop a plan of root.
    void stop_plan_for(std::uint32_t user);
    /// Serves some of the waiting queries.
    void serve_queries();
    /// Serves queries for some time, or until the plan is to stop.
    void serve_queries_for(std::chrono::seconds time, const Stop& stop);

private:
    struct Waiting {
        std::uint32_t user = 0;
        RunPlan run;
        RunPlan drop;
    };

    void run(const std::stop_token& end);
    bool may_stop(std::uint32_t user) const {
        return user == 0 || running_user_ == user || is_off("rank");
    }
    bool pop_query(Query& query);

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::map<std::uint32_t, std::deque<Query>> queries_;  // by user; none is empty
    std::uint32_t served_ = 0;                            // user of the last query
    std::deque<Waiting> plans_;
    std::string running_;  // id of the plan
    std::uint32_t running_user_ = 0;
    std::stop_source plan_stop_;
    WorkTimer timer_;
    std::jthread thread_;  // last: uses everything above
};

}  // namespace kubexm::executor
