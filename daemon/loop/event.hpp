#pragma once

#include <systemd/sd-event.h>

#include <memory>
#include <tuple>
#include <utility>

#include "daemon/loop/loop.hpp"

// Owners of sd-event objects. Private to the module.

namespace kubexm {

struct EventRelease {
    void operator()(sd_event* event) const { sd_event_unref(event); }
};
using Event = std::unique_ptr<sd_event, EventRelease>;

/// Removes its sd-event source when destroyed.
class EventSource final : public Loop::Source {
public:
    explicit EventSource(sd_event_source* source) : source_(source) {}
    ~EventSource() override { sd_event_source_disable_unref(source_); }
    EventSource(const EventSource&) = delete;
    EventSource& operator=(const EventSource&) = delete;

private:
    sd_event_source* source_;
};

/// Destroys `called` together with the source. sd-event frees a source that is dropped in its own
/// callback after that callback has returned, which makes dropping it there safe.
template <typename Called>
std::unique_ptr<EventSource> owning(sd_event_source* source, std::unique_ptr<Called> called) {
    auto handle = std::make_unique<EventSource>(source);
    sd_event_source_set_destroy_callback(
        source, [](void* userdata) { delete static_cast<Called*>(userdata); });
    std::ignore = called.release();
    return handle;
}

}  // namespace kubexm
