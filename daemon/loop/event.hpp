#pragma once

#include <systemd/sd-event.h>

#include <memory>
#include <tuple>
#include <utility>

#include "daemon/loop/loop.hpp"

// sd-event's objects with owners. Private to the module.

namespace kubexm {

struct EventRelease {
    void operator()(sd_event* event) const { sd_event_unref(event); }
};
using Event = std::unique_ptr<sd_event, EventRelease>;

/// An sd-event source that goes with its owner.
class EventSource final : public Loop::Source {
public:
    explicit EventSource(sd_event_source* source) : source_(source) {}
    ~EventSource() override { sd_event_source_disable_unref(source_); }
    EventSource(const EventSource&) = delete;
    EventSource& operator=(const EventSource&) = delete;

    sd_event_source* get() const { return source_; }

private:
    sd_event_source* source_;
};

/// Ties what a new source calls to the source's life. sd-event frees a source that is dropped in
/// its own callback only after the callback returned: that is why dropping is safe there.
template <typename Called>
std::unique_ptr<EventSource> owning(sd_event_source* source, std::unique_ptr<Called> called) {
    auto handle = std::make_unique<EventSource>(source);
    sd_event_source_set_destroy_callback(
        source, [](void* userdata) { delete static_cast<Called*>(userdata); });
    std::ignore = called.release();
    return handle;
}

}  // namespace kubexm
