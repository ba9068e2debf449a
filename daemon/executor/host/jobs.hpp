#pragma once

#include <string>
#include <utility>

#include "daemon/executor/host/manager.hpp"
#include "daemon/executor/host/systemd.hpp"

// Private to the module: jobs of systemd, from the call that asks for one to its end.

namespace kubexm::executor {

/// While it lives, systemd tells us the end of every job. It has to live before a job is asked
/// for, whose end may come before the answer; and not longer, because at rest nobody reads.
class JobWatch {
public:
    static Result<JobWatch> begin(Manager& manager, bus::Deadline deadline,
                                  Systemd::OnWait on_wait);
    JobWatch(JobWatch&& other) noexcept
        : manager_(std::exchange(other.manager_, nullptr)), on_wait_(std::move(other.on_wait_)) {}
    JobWatch& operator=(JobWatch&&) = delete;
    ~JobWatch();

    /// Waits for the end of a job: "done", "failed", "canceled", ... timeout: it goes on.
    Result<std::string> end_of(const std::string& job, bus::Deadline deadline) const;

private:
    JobWatch(Manager& manager, Systemd::OnWait on_wait)
        : manager_(&manager), on_wait_(std::move(on_wait)) {}

    Manager* manager_;
    Systemd::OnWait on_wait_;  // may be empty
};

/// A little more time after a deadline: to call off what did not end before it, or to read the
/// result of what did.
inline bus::Deadline grace() { return std::chrono::steady_clock::now() + std::chrono::seconds(2); }

/// Calls a method that answers with a job and waits for its end. timeout: the job was cancelled.
Result<std::string> run_job(Manager& manager, const bus::Request& request, bus::Deadline deadline,
                            Systemd::OnWait on_wait);

}  // namespace kubexm::executor
