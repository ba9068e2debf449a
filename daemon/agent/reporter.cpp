#include "daemon/agent/reporter.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/base/crash_point.hpp"
#include "daemon/base/log.hpp"
#include "daemon/kube/byohost.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;
using model::Condition;

constexpr int kFreeTries = 5;

/// How long a difference waits after the last write. Some reasons of a join pass in milliseconds.
std::chrono::seconds wait_of(Difference found) {
    switch (found) {
        case Difference::message:
            return 5s;
        case Difference::reason:
            return 1s;
        case Difference::none:
        case Difference::status:
            break;
    }
    return 0s;
}

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
        if (there == nullptr) {
            found = std::max(found, Difference::reason);
            continue;
        }
        if (there->status != own.status || there->severity != own.severity) {
            return Difference::status;
        }
        own.since = there->since;
        const auto kind = there->reason == own.reason ? Difference::message : Difference::reason;
        if (own != *there) found = std::max(found, kind);
    }
    return found;
}

Reporter::Reporter(AgentContext& context) : context_(context), backoff_(1s, 1min) {}

void Reporter::use(kube::Api* api) {
    if (api_ == api) return;
    api_ = api;
    call_.reset();
    retry_.reset();
    writing_ = false;
    failed_ = false;
    end_free(false);
}

void Reporter::update() {
    const auto& host = context_.state.read().host;
    if (api_ == nullptr || !host || writing_ || failed_ || host->paused) return;
    if (context_.state.read().released) return;  // free_host() writes them
    const std::vector<Condition> ours = conditions_of(context_.state.read()).on_host;
    const Difference found = difference(*host, ours);
    if (found == Difference::none) return;
    const auto due = last_write_ + wait_of(found);
    if (context_.state.now() < due) return update_later(due - context_.state.now());
    write(*host, ours);
}

/// Others compare these times with their own: this host's clock may be hours off.
std::string Reporter::server_time() const {
    return rfc3339(context_.state.now() + api_->clock_offset().value_or(0s));
}

void Reporter::write(const model::HostRecord& host, const std::vector<Condition>& conditions) {
    writing_ = true;
    retry_.reset();
    last_write_ = context_.state.now();
    call_ =
        api_->merge_patch(kube::host_status_path(context_.namespace_, context_.facts().name),
                          kube::conditions_patch(host, with_times(conditions, host, server_time())),
                          [this](const Answer& answer) { on_written(answer); });
}

void Reporter::on_written(const Answer& answer) {
    writing_ = false;
    if (answer) {
        backoff_.reset();
        on_host(*answer);
        return free_now();
    }
    failed_ = true;
    update_later(backoff_.next(answer.error(), context_.random()));
    if (answer.error().error.code == Code::conflict) return read_host();
    log::warning("cannot write conditions to the ByoHost: " + answer.error().error.what);
    free_now();
}

/// After a conflict. The watch brings the newer version, too, but perhaps later.
void Reporter::read_host() {
    writing_ = true;
    call_ = api_->get(kube::host_path(context_.namespace_, context_.facts().name),
                      [this](const Answer& answer) {
                          writing_ = false;
                          if (answer) on_host(*answer);
                          free_now();
                      });
}

/// An answer comes on another connection than the watch, which may have brought a newer version by
/// then, and will not bring it again.
void Reporter::on_host(const nlohmann::json& object) {
    model::HostRecord written = kube::host_from_json(object);
    const auto& known = context_.state.read().host;
    if (known && known->uid == written.uid &&
        is_older(written.resource_version, known->resource_version)) {
        return;
    }
    const auto now = context_.state.now();
    context_.state.change([&](AgentState& state) {
        state.host = std::move(written);
        state.host_written = now;
    });
}

void Reporter::update_later(std::chrono::milliseconds delay) {
    auto timer = context_.loop.after(delay, [this] {
        failed_ = false;
        retry_.reset();
        update();
    });
    if (timer) retry_ = *std::move(timer);
}

void Reporter::free_host(std::function<void(bool)> done) {
    if (free_) return;  // under way
    free_ = std::move(done);
    free_tries_ = kFreeTries;
    if (api_ == nullptr) return end_free(false);
    if (!writing_) free_now();  // else the answer has the version that the patch needs
}

/// Does nothing without a free_host(). Orders may have changed since.
void Reporter::free_now() {
    const AgentState& state = context_.state.read();
    if (!free_) return;
    if (!state.host || !state.host->release_asked || free_tries_-- == 0) return end_free(false);
    writing_ = true;
    const auto conditions = with_times(conditions_of(state).on_host, *state.host, server_time());
    call_ = api_->merge_patch(kube::host_status_path(context_.namespace_, context_.facts().name),
                              kube::released_status_patch(*state.host, conditions),
                              [this](const Answer& answer) { on_status_freed(answer); });
}

void Reporter::on_status_freed(const Answer& answer) {
    if (!answer) return on_not_freed(answer.error().error);
    crash_point("release.status-freed");
    call_ = api_->merge_patch(kube::host_path(context_.namespace_, context_.facts().name),
                              kube::released_patch(kube::host_from_json(*answer)),
                              [this](const Answer& freed) {
                                  if (!freed) return on_not_freed(freed.error().error);
                                  writing_ = false;
                                  on_host(*freed);
                                  end_free(true);
                              });
}

/// The manager writes to a host that is to be released, too.
void Reporter::on_not_freed(const Error& error) {
    if (error.code == Code::conflict && free_tries_ > 0) return read_host();
    writing_ = false;
    log::warning("cannot free the ByoHost yet: " + error.what);
    end_free(false);
}

void Reporter::end_free(bool freed) {
    if (const auto done = std::exchange(free_, {})) done(freed);
}

}  // namespace kubexm::agent
