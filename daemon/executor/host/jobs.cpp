#include "daemon/executor/host/jobs.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "daemon/base/try.hpp"

namespace kubexm::executor {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr const char* kJobInterface = "org.freedesktop.systemd1.Job";

constexpr const char* kJobRemoved =
    "type='signal',sender='org.freedesktop.systemd1',path='/org/freedesktop/systemd1',"
    "interface='org.freedesktop.systemd1.Manager',member='JobRemoved'";

std::chrono::seconds whole_seconds_since(Clock::time_point begun) {
    return std::chrono::floor<std::chrono::seconds>(Clock::now() - begun);
}

/// The result of `job` in a signal JobRemoved; empty: of another job.
std::optional<std::string> result_in(const bus::Message& signal, const std::string& job) {
    std::uint32_t id = 0;
    const char* path = nullptr;
    const char* unit = nullptr;
    const char* result = nullptr;
    if (!bus::read(signal, "uoss", &id, &path, &unit, &result) || job != path) return std::nullopt;
    return result;
}

void cancel(Manager& manager, const std::string& job) {
    // Fails for a job that has just ended.
    std::ignore = manager.change(manager.request_to(job, kJobInterface, "Cancel"), grace());
}

}  // namespace

std::chrono::milliseconds report_interval(std::chrono::milliseconds waited) {
    constexpr auto kShare = 4;  // of the time so far
    return std::clamp<std::chrono::milliseconds>(waited / kShare, 1s, 30s);
}

Result<JobWatch> JobWatch::begin(Manager& manager, Deadline deadline, OnWait on_wait) {
    JobWatch watch(manager, std::move(on_wait));
    TRY(manager.ask(manager.bus_request("AddMatch", kJobRemoved), deadline));
    TRY(manager.ask(manager.request("Subscribe"), deadline));
    return watch;
}

JobWatch::~JobWatch() {
    if (manager_ == nullptr) return;
    manager_->send(manager_->request("Unsubscribe"));
    manager_->send(manager_->bus_request("RemoveMatch", kJobRemoved));
}

Result<std::string> JobWatch::result_of(const std::string& job, Deadline deadline) const {
    const auto begun = Clock::now();
    auto interval = report_interval({});
    for (;;) {
        auto next = manager_->next(std::min(deadline, Clock::now() + interval));
        const bool timed_out = !next && next.error().code == Code::timeout;
        if (timed_out && Clock::now() < deadline) {
            const auto waited = whole_seconds_since(begun);
            if (on_wait_) on_wait_(waited);
            interval = report_interval(waited);
            continue;
        }
        const auto message = TRY(std::move(next));
        if (!manager_->is_signal(message, "JobRemoved")) continue;
        if (auto result = result_in(message, job)) return *std::move(result);
    }
}

Result<std::string> run_job(Manager& manager, const bus::MethodCall& request, Deadline deadline,
                            JobWatch::OnWait on_wait) {
    const auto watch = TRY(JobWatch::begin(manager, deadline, std::move(on_wait)));
    const auto reply = TRY(manager.change(request, deadline));
    const std::string job = TRY(read_text(reply, "o"));
    auto result = watch.result_of(job, deadline);
    if (!result && result.error().code == Code::timeout) cancel(manager, job);
    return result;
}

}  // namespace kubexm::executor
