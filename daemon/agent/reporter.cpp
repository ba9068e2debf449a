#include "daemon/agent/reporter.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/agent/conditions.hpp"
#include "daemon/base/crash_point.hpp"
#include "daemon/base/log.hpp"
#include "daemon/kube/byohost.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;
using model::Condition;

constexpr auto kMessagesEvery = 5s;

const Condition* find_condition(const std::vector<Condition>& list, const std::string& type) {
    const auto found = std::ranges::find(list, type, &Condition::type);
    return found == list.end() ? nullptr : &*found;
}

/// With the times at which they changed their status.
std::vector<Condition> with_times(std::vector<Condition> ours, const model::HostRecord& host,
                                  const std::string& now) {
    for (Condition& condition : ours) {
        const Condition* there = find_condition(host.conditions, condition.type);
        const bool stays = there != nullptr && there->status == condition.status;
        condition.since = stays ? there->since : now;
    }
    return ours;
}

}  // namespace

Difference difference(const model::HostRecord& host, const std::vector<Condition>& ours) {
    Difference found = Difference::none;
    for (Condition own : ours) {
        const Condition* there = find_condition(host.conditions, own.type);
        if (there == nullptr || there->status != own.status || there->reason != own.reason) {
            return Difference::status;
        }
        own.since = there->since;
        if (own != *there) found = Difference::message;
    }
    return found;
}

Reporter::Reporter(AgentContext& context) : context_(context), backoff_(1s, 1min) {}

void Reporter::use(kube::Api* api) {
    if (api_ == api) return;
    api_ = api;
    call_.reset();
    retry_.reset();
    free_ = {};
    writing_ = false;
    failed_ = false;
}

void Reporter::update() {
    const auto& host = context_.state.read().host;
    if (api_ == nullptr || !host || writing_ || failed_ || host->paused) return;
    if (context_.state.read().released) return;  // free_host() writes them
    const std::vector<Condition> ours = conditions_of(context_.state.read()).on_host;
    const Difference found = difference(*host, ours);
    if (found == Difference::none) return;
    const auto due = last_write_ + kMessagesEvery;
    if (found == Difference::message && context_.state.now() < due) {
        return update_later(due - context_.state.now());
    }
    write(*host, ours);
}

void Reporter::write(const model::HostRecord& host, const std::vector<Condition>& conditions) {
    writing_ = true;
    retry_.reset();
    last_write_ = context_.state.now();
    call_ = api_->merge_patch(
        kube::host_status_path(context_.namespace_, context_.facts().name),
        kube::conditions_patch(host, with_times(conditions, host, rfc3339(last_write_))),
        [this](const Answer& answer) { on_written(answer); });
}

void Reporter::on_written(const Answer& answer) {
    writing_ = false;
    if (answer) {
        backoff_.reset();
        on_host(*answer);
    }
    if (free_) return free_host(std::exchange(free_, {}));
    if (answer) return;
    // The watch brings the newer version, and with it the next try.
    if (answer.error().error.code != Code::conflict) {
        log::warning("cannot write conditions to the ByoHost: " + answer.error().error.what);
    }
    failed_ = true;
    update_later(backoff_.next());
}

void Reporter::on_host(const nlohmann::json& object) {
    const auto now = context_.state.now();
    context_.state.change([&](AgentState& state) {
        state.host = kube::host_from_json(object);
        state.host_written = now;
    });
}

void Reporter::update_later(std::chrono::milliseconds delay) {
    if (retry_ && !failed_) return;
    auto timer = context_.loop.after(delay, [this] {
        failed_ = false;
        retry_.reset();
        update();
    });
    if (timer) retry_ = *std::move(timer);
}

void Reporter::free_host(std::function<void(bool)> done) {
    const AgentState& state = context_.state.read();
    if (api_ == nullptr || !state.host) return done(false);
    if (writing_) {  // its answer has the version that the patch needs
        free_ = std::move(done);
        return;
    }
    writing_ = true;
    const auto conditions =
        with_times(conditions_of(state).on_host, *state.host, rfc3339(context_.state.now()));
    call_ = api_->merge_patch(
        kube::host_status_path(context_.namespace_, context_.facts().name),
        kube::released_status_patch(*state.host, conditions),
        [this, done = std::move(done)](const Answer& answer) { on_status_freed(answer, done); });
}

void Reporter::on_status_freed(const Answer& answer, std::function<void(bool)> done) {
    crash_point("release.status-freed");
    if (!answer) {
        writing_ = false;
        log::warning("cannot free the ByoHost yet: " + answer.error().error.what);
        return done(false);
    }
    call_ = api_->merge_patch(
        kube::host_path(context_.namespace_, context_.facts().name),
        kube::released_patch(kube::host_from_json(*answer)),
        [this, done = std::move(done)](const Answer& freed) {
            writing_ = false;
            if (!freed) log::warning("cannot free the ByoHost yet: " + freed.error().error.what);
            if (freed) on_host(*freed);
            done(freed.has_value());
        });
}

}  // namespace kubexm::agent
