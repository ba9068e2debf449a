#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "daemon/base/deadline.hpp"
#include "daemon/executor/host/manager.hpp"

// Private to the module: jobs of systemd, from the call that queues one to its end.

namespace kubexm::executor {

/// A subscription to JobRemoved. Begin it before the call that queues a job, because the job may
/// end before the reply; and end it afterwards, because an idle connection is not read.
class JobWatch {
public:
    using OnWait = std::function<void(std::chrono::seconds)>;
    static Result<JobWatch> begin(Manager& manager, Deadline deadline, OnWait on_wait);
    JobWatch(JobWatch&& other) noexcept
        : manager_(std::exchange(other.manager_, nullptr)), on_wait_(std::move(other.on_wait_)) {}
    JobWatch& operator=(JobWatch&&) = delete;
    ~JobWatch();

    /// Waits for the result of a job: "done", "failed", "canceled", ... timeout: it still runs.
    Result<std::string> result_of(const std::string& job, Deadline deadline) const;

private:
    JobWatch(Manager& manager, OnWait on_wait) : manager_(&manager), on_wait_(std::move(on_wait)) {}

    Manager* manager_;
    OnWait on_wait_;  // may be empty
};

/// How long after a report of a wait the next one comes. Each wakes up two threads: every second at
/// first, more and more rarely in a wait of minutes. Pure.
std::chrono::milliseconds report_interval(std::chrono::milliseconds waited);

/// Extra time after a deadline: to cancel a job, or to read the result of one that ended.
inline Deadline grace() { return std::chrono::steady_clock::now() + std::chrono::seconds(2); }

/// Calls a method that queues a job and waits for the job's result. timeout: the job was cancelled.
Result<std::string> run_job(Manager& manager, const bus::MethodCall& request, Deadline deadline,
                            JobWatch::OnWait on_wait);

}  // namespace kubexm::executor
