#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "daemon/loop/event.hpp"

namespace kubexm {

/// All timers of a loop behind one source of sd-event, which by itself runs those that became due
/// in the same turn in any order: here the one that was due first runs first.
class Timers : public std::enable_shared_from_this<Timers> {
public:
    /// `event` outlives the timers.
    static Result<std::shared_ptr<Timers>> create(sd_event* event);

    Result<Loop::Handle> after(std::chrono::milliseconds delay, Loop::Callback callback);

private:
    class Timer;
    using Key = std::pair<std::uint64_t, std::uint64_t>;  // when it is due; a serial number

    void cancel(Key key);
    /// Sets the alarm for the timer that is due first. Fails only where the loop has finished.
    Result<> arm();
    void fire();

    std::map<Key, Loop::Callback> waiting_;
    std::uint64_t serial_ = 0;
    std::unique_ptr<EventSource> source_;
};

}  // namespace kubexm
