#include "daemon/loop/timers.hpp"

#include <algorithm>
#include <tuple>

namespace kubexm {

namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kAccuracy = 1000;  // microseconds that the kernel may be late
constexpr milliseconds kLongest = std::chrono::years(10);  // keeps the sum below in its type

/// Microseconds of CLOCK_MONOTONIC, which is the steady clock.
std::uint64_t now() {
    const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(since_boot).count());
}

std::uint64_t microseconds(milliseconds delay) {
    return static_cast<std::uint64_t>(
        std::chrono::microseconds(std::clamp(delay, milliseconds(0), kLongest)).count());
}

}  // namespace

/// Takes its timer out of the waiting ones, if there still are any.
class Timers::Timer final : public Loop::Source {
public:
    Timer(std::weak_ptr<Timers> timers, Key key) : timers_(std::move(timers)), key_(key) {}
    ~Timer() override {
        if (const auto timers = timers_.lock()) timers->cancel(key_);
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

private:
    std::weak_ptr<Timers> timers_;
    Key key_;
};

Result<std::shared_ptr<Timers>> Timers::create(sd_event* event) {
    auto timers = std::make_shared<Timers>();
    const auto on_due = [](sd_event_source*, std::uint64_t, void* userdata) noexcept {
        static_cast<Timers*>(userdata)->fire();
        return 0;
    };
    sd_event_source* source = nullptr;
    const int done = sd_event_add_time(event, &source, CLOCK_MONOTONIC, UINT64_MAX, kAccuracy,
                                       on_due, timers.get());
    if (done < 0) return from_errno("sd_event_add_time", "CLOCK_MONOTONIC", -done);
    timers->source_ = std::make_unique<EventSource>(source);
    return timers;
}

Result<Loop::Handle> Timers::after(milliseconds delay, Loop::Callback callback) {
    const Key key{now() + microseconds(delay), ++serial_};
    waiting_.emplace(key, std::move(callback));
    auto handle = std::make_unique<Timer>(weak_from_this(), key);
    if (auto done = arm(); !done) return std::unexpected(done.error());
    return handle;
}

void Timers::cancel(Key key) {
    const auto cancelled = waiting_.extract(key);  // its callback may own, and cancel, other timers
    std::ignore = arm();                           // a cancelled alarm must not wake the loop up
}

Result<> Timers::arm() {
    const std::uint64_t next = waiting_.empty() ? UINT64_MAX : waiting_.begin()->first.first;
    int done = sd_event_source_set_time(source_->get(), next);
    if (done >= 0) done = sd_event_source_set_enabled(source_->get(), SD_EVENT_ONESHOT);
    if (done < 0) return from_errno("sd_event_source_set_time", "of a timer", -done);
    return {};
}

void Timers::fire() {
    // One a turn, so that timers that are always due leave room for descriptors.
    if (!waiting_.empty() && waiting_.begin()->first.first <= now()) {
        auto due = waiting_.extract(waiting_.begin());
        due.mapped()();
    }
    std::ignore = arm();
}

}  // namespace kubexm
