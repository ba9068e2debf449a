#include "daemon/agent/reporter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/agent/conditions.hpp"
#include "daemon/base/crash_point.hpp"
#include "daemon/base/log.hpp"
#include "daemon/kube/byohost.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

/// Whether the ByoHost has these conditions already.
bool has_all(const model::HostRecord& host, const std::vector<model::Condition>& ours) {
    return std::ranges::all_of(ours, [&](model::Condition own) {
        const auto there = std::ranges::find(host.conditions, own.type, &model::Condition::type);
        if (there == host.conditions.end()) return false;
        own.since = there->since;
        return own == *there;
    });
}

}  // namespace

Reporter::Reporter(AgentContext& context) : context_(context), backoff_(1s, 1min) {}

void Reporter::on_host(kube::Api& api, const model::HostRecord& host) {
    api_ = &api;
    host_ = host;
    write();
}

void Reporter::forget_host() {
    api_ = nullptr;
    host_.reset();
    call_.reset();
    retry_.reset();
    writing_ = false;
}

void Reporter::record(const model::Condition& condition) {
    put(ours_, condition, rfc3339(std::chrono::system_clock::now()));
    context_.status.set(condition);
}

void Reporter::set(const model::Condition& condition) {
    record(condition);
    write();
}

void Reporter::resolve(std::string_view condition_type) {
    const auto is_open = [&](const model::Condition& each) {
        return each.type == condition_type && each.status != model::ConditionStatus::yes;
    };
    const bool is_reported = std::ranges::any_of(ours_, is_open) ||
                             (host_ && std::ranges::any_of(host_->conditions, is_open));
    if (is_reported) set(is_true(condition_type, ""));
}

void Reporter::write() {
    if (api_ == nullptr || !host_ || writing_ || host_->paused || has_all(*host_, ours_)) return;
    writing_ = true;
    retry_.reset();
    call_ = api_->merge_patch(kube::host_status_path(context_.namespace_, context_.facts.name),
                              kube::conditions_patch(*host_, ours_),
                              [this, version = host_->resource_version, sent = ours_](
                                  const Answer& answer) { on_written(answer, version, sent); });
}

void Reporter::on_written(const Answer& answer, const std::string& version,
                          const std::vector<model::Condition>& sent) {
    writing_ = false;
    if (answer) {
        host_ = kube::host_from_json(*answer);
        backoff_.reset();
        if (ours_ != sent) write();  // set during the write
        return;
    }
    // The watch brings the newer version, and with it the next try; or has brought it already.
    if (answer.error().error.code == Code::conflict) {
        if (host_ && host_->resource_version != version) write();
        return;
    }
    log::warning("cannot write conditions to the ByoHost: " + answer.error().error.what);
    auto timer = context_.loop.after(backoff_.next(), [this] { write(); });
    if (timer) retry_ = *std::move(timer);
}

void Reporter::free_host(const std::vector<model::Condition>& conditions,
                         std::function<void(bool)> done) {
    if (api_ == nullptr || !host_) return done(false);
    for (const model::Condition& condition : conditions) record(condition);
    writing_ = true;
    call_ = api_->merge_patch(
        kube::host_status_path(context_.namespace_, context_.facts.name),
        kube::released_status_patch(*host_, ours_),
        [this, done = std::move(done)](const Answer& answer) { on_status_freed(answer, done); });
}

void Reporter::on_status_freed(const Answer& answer, std::function<void(bool)> done) {
    crash_point("release.status-freed");
    writing_ = false;
    if (!answer) {
        log::warning("cannot free the ByoHost yet: " + answer.error().error.what);
        return done(false);
    }
    writing_ = true;
    call_ = api_->merge_patch(
        kube::host_path(context_.namespace_, context_.facts.name),
        kube::released_patch(kube::host_from_json(*answer)),
        [this, done = std::move(done)](const Answer& freed) {
            writing_ = false;
            if (!freed) log::warning("cannot free the ByoHost yet: " + freed.error().error.what);
            done(freed.has_value());
        });
}

}  // namespace kubexm::agent
