#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "daemon/base/pulse.hpp"
#include "daemon/hands/executor/stop.hpp"

namespace kubexm::hands {

/// The one thread on which everything that touches the host or the journal happens, in order.
/// Two lines of work: plans, one at a time; and looks, which are short and also served between the
/// steps of a plan.
class Worker {
public:
    using Look = std::move_only_function<void()>;
    using Plan = std::move_only_function<void()>;

    Worker();
    ~Worker() { finish(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Any thread. False: as many looks wait already as may; somebody who waits for an answer hears
    /// nothing.
    bool look(Look look);
    /// Any thread. False: as many plans wait already as may.
    bool plan(Plan plan);
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
    /// Between steps: serves the looks that wait.
    void serve_looks();

private:
    void run(const std::stop_token& end);
    bool take_look(Look& look);

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Look> looks_;
    std::deque<Plan> plans_;
    std::string running_;  // id of the plan
    std::stop_source plan_stop_;
    Pulse pulse_;
    std::jthread thread_;  // last: it uses everything above
};

}  // namespace kubexm::hands
