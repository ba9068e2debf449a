#include "daemon/executor/host/jobs.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

namespace kubexm::executor {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kTellEvery = 1s;
constexpr const char* kJobInterface = "org.freedesktop.systemd1.Job";

constexpr const char* kEndsOfJobs =
    "type='signal',sender='org.freedesktop.systemd1',path='/org/freedesktop/systemd1',"
    "interface='org.freedesktop.systemd1.Manager',member='JobRemoved'";

std::chrono::seconds whole_seconds_since(Clock::time_point begun) {
    return std::chrono::floor<std::chrono::seconds>(Clock::now() - begun);
}

/// The result of `job`, where the signal tells its end.
std::optional<std::string> end_told_by(const bus::Message& signal, const std::string& job) {
    std::uint32_t id = 0;
    const char* path = nullptr;
    const char* unit = nullptr;
    const char* result = nullptr;
    if (!bus::read(signal, "uoss", &id, &path, &unit, &result) || job != path) return std::nullopt;
    return result;
}

void cancel(Manager& manager, const std::string& job) {
    // It may just have ended by itself, and then there is nothing to cancel.
    std::ignore = manager.change(manager.request_to(job, kJobInterface, "Cancel"), grace());
}

}  // namespace

Result<JobWatch> JobWatch::begin(Manager& manager, bus::Deadline deadline,
                                 Systemd::OnWait on_wait) {
    JobWatch watch(manager, std::move(on_wait));
    auto done = manager.ask(manager.bus_request("AddMatch", kEndsOfJobs), deadline);
    if (done) done = manager.ask(manager.request("Subscribe"), deadline);
    if (!done) return std::unexpected(done.error());
    return watch;
}

JobWatch::~JobWatch() {
    if (manager_ == nullptr) return;
    manager_->send(manager_->request("Unsubscribe"));
    manager_->send(manager_->bus_request("RemoveMatch", kEndsOfJobs));
}

Result<std::string> JobWatch::end_of(const std::string& job, bus::Deadline deadline) const {
    const auto begun = Clock::now();
    for (;;) {
        auto message = manager_->next(std::min(deadline, Clock::now() + kTellEvery));
        const bool goes_on =
            !message && message.error().code == Code::timeout && Clock::now() < deadline;
        if (goes_on) {
            if (on_wait_) on_wait_(whole_seconds_since(begun));
            continue;
        }
        if (!message) return std::unexpected(message.error());
        if (!manager_->is_signal(*message, "JobRemoved")) continue;
        if (auto result = end_told_by(*message, job)) return *std::move(result);
    }
}

Result<std::string> run_job(Manager& manager, const bus::Request& request, bus::Deadline deadline,
                            Systemd::OnWait on_wait) {
    auto watch = JobWatch::begin(manager, deadline, std::move(on_wait));
    if (!watch) return std::unexpected(watch.error());
    auto answer = manager.change(request, deadline);
    if (!answer) return std::unexpected(answer.error());
    auto job = read_text(*answer, "o");
    if (!job) return job;
    auto end = watch->end_of(*job, deadline);
    if (!end && end.error().code == Code::timeout) cancel(manager, *job);
    return end;
}

}  // namespace kubexm::executor
