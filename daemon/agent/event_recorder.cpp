#include "daemon/agent/event_recorder.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/events_of.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/base/log.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

constexpr auto kWindow = 1h;  // also how long API servers keep Events by default
constexpr std::size_t kMostEntries = 100;
constexpr std::size_t kNameDigits = 16;

std::string key_of(const kube::HostEvent& event, const std::string& uid) {
    return fmt::format("{}\n{}\n{}\n{}", uid, name_of(event.type), event.reason, event.message);
}

/// A clock that was set back must not keep old times for ever.
bool is_outside(std::chrono::sys_seconds time, std::chrono::sys_seconds now) {
    return time > now || now - time >= kWindow;
}

}  // namespace

/// The first state is no news.
EventRecorder::EventRecorder(AgentContext& context)
    : context_(context), before_(context.state.read()), budget_(context) {}

/// Another API may be another cluster: this process does not know which Events exist there.
void EventRecorder::use(kube::Api* api) {
    if (api_ == api) return;
    api_ = api;
    entries_.clear();
}

void EventRecorder::update() {
    const AgentState& now = context_.state.read();
    if (!now.host) return;  // a later update writes the news of this time
    const auto events = events_of(before_, now);
    before_ = now;
    if (api_ == nullptr || now.host->paused) return;
    for (const kube::HostEvent& event : events) record(event, *now.host);
}

void EventRecorder::record(const kube::HostEvent& event, const model::HostRecord& host) {
    forget_old();
    const std::string key = key_of(event, host.uid);
    if (!entries_.contains(key) && entries_.size() >= kMostEntries) return;
    Entry& entry = entries_[key];
    kube::EventSeries& series = entry.series;
    entry.last = context_.state.now();
    series.last = rfc3339(entry.last);
    if (series.count++ == 0) {
        series.event = event;
        series.first = series.last;
        series.name = kube::event_name(context_.facts().name,
                                       sha256(key + series.first).substr(0, kNameDigits));
    }
    write(key);
}

/// A write that is under way is followed by the next one.
void EventRecorder::write(const std::string& key) {
    Entry& entry = entries_.at(key);
    const auto& host = context_.state.read().host;
    if (api_ == nullptr || !host || entry.call || !budget_.take(entry.is_stored)) return;
    auto on_answer = [this, key, count = entry.series.count](const Answer& answer) {
        on_written(key, count, answer);
    };
    const model::Reference about{context_.namespace_, context_.facts().name, host->uid};
    entry.call = entry.is_stored
                     ? api_->merge_patch(kube::event_path(about.namespace_, entry.series.name),
                                         kube::repeats_patch(entry.series), std::move(on_answer))
                     : api_->post(kube::events_path(about.namespace_),
                                  kube::new_event(entry.series, about, host->resource_version),
                                  std::move(on_answer));
}

void EventRecorder::on_written(const std::string& key, std::uint32_t count, const Answer& answer) {
    Entry& entry = entries_.at(key);
    // Keeps the callback, which holds `key`, until the end of this function.
    const kube::Api::Handle ended = std::move(entry.call);
    if (answer) {
        logged_.clear();
        entry.is_stored = true;
        if (entry.series.count > count) write(key);
        return;
    }
    const Error& error = answer.error().error;
    if (entry.is_stored && error.code == Code::not_found) {
        entry.is_stored = false;  // it expired or was deleted
        return write(key);
    }
    if (!logged_.insert(error.code).second) return;
    log::warning("cannot write an Event about the ByoHost: " + error.what);
}

void EventRecorder::forget_old() {
    const auto now = context_.state.now();
    std::erase_if(entries_, [&](const auto& each) {
        return !each.second.call && is_outside(each.second.last, now);
    });
}

}  // namespace kubexm::agent
