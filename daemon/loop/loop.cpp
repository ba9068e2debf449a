#include "daemon/loop/loop.hpp"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <tuple>
#include <utility>

#include "daemon/base/try.hpp"
#include "daemon/loop/event.hpp"
#include "daemon/loop/mailbox.hpp"

namespace kubexm {

// The callbacks given to sd-event are noexcept: an exception must not travel through its frames.

namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kAccuracy = 1000;                  // microseconds a timer may be late
constexpr milliseconds kLongest = std::chrono::years(10);  // keeps the sum below in its type

/// Microseconds of CLOCK_MONOTONIC. sd_event_add_time_relative() would count from the beginning of
/// the loop's turn, and a timer set late in a turn would fire early.
std::uint64_t due_after(milliseconds delay) {
    const auto due = std::chrono::steady_clock::now().time_since_epoch() +
                     std::clamp(delay, milliseconds(0), kLongest);
    return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::microseconds>(due).count());
}

Result<Loop::Handle> add_timer(sd_event* event, milliseconds delay, Loop::Callback callback) {
    const auto on_due = [](sd_event_source*, std::uint64_t, void* called) noexcept {
        // Moved out, so that the captured objects are released although the handle lives on.
        Loop::Callback due = std::move(*static_cast<Loop::Callback*>(called));
        due();
        return 0;
    };
    auto called = std::make_unique<Loop::Callback>(std::move(callback));
    sd_event_source* source = nullptr;
    const int done = sd_event_add_time(event, &source, CLOCK_MONOTONIC, due_after(delay), kAccuracy,
                                       on_due, called.get());
    if (done < 0) return from_errno("sd_event_add_time", "timer", -done);
    return owning(source, std::move(called));
}

}  // namespace

struct Loop::Impl {
    Event event;
    std::unique_ptr<Timers> timers;  // null: those of sd-event
    std::unique_ptr<Mailbox> mailbox;

    struct {
        milliseconds period{};
        std::move_only_function<bool()> healthy;
        Handle timer;
    } watchdog;

    Result<> arm_watchdog();
    void feed_watchdog();
};

Loop::Loop(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Loop::Loop(Loop&&) noexcept = default;
Loop& Loop::operator=(Loop&&) noexcept = default;
Loop::~Loop() = default;

Result<Loop> Loop::create() {
    auto impl = std::make_unique<Impl>();
    sd_event* event = nullptr;
    const int done = sd_event_new(&event);
    if (done < 0) return from_errno("sd_event_new", "event loop", -done);
    impl->event.reset(event);
    impl->mailbox = TRY(Mailbox::create(event));
    return Loop(std::move(impl));
}

Result<Loop> Loop::create(std::unique_ptr<Timers> timers) {
    Loop loop = TRY(create());
    loop.impl_->timers = std::move(timers);
    return loop;
}

Result<Loop::Handle> Loop::on_io(int fd, std::uint32_t events, IoCallback callback) {
    const auto on_ready = [](sd_event_source*, int, std::uint32_t revents, void* called) noexcept {
        (*static_cast<IoCallback*>(called))(revents);
        return 0;
    };
    auto called = std::make_unique<IoCallback>(std::move(callback));
    sd_event_source* source = nullptr;
    const int done =
        sd_event_add_io(impl_->event.get(), &source, fd, events, on_ready, called.get());
    if (done < 0) return from_errno("watch descriptor", std::to_string(fd), -done);
    return owning(source, std::move(called));
}

Result<Loop::Handle> Loop::after(milliseconds delay, Callback callback) {
    if (impl_->timers) return impl_->timers->after(delay, std::move(callback));
    return add_timer(impl_->event.get(), delay, std::move(callback));
}

Result<Loop::Handle> Loop::on_signal(int number, Callback callback) {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, number);
    if (const int failed = ::pthread_sigmask(SIG_BLOCK, &set, nullptr); failed != 0) {
        return from_errno("block signal", std::to_string(number), failed);
    }
    const auto on_delivery = [](sd_event_source*, const signalfd_siginfo*, void* called) noexcept {
        (*static_cast<Callback*>(called))();
        return 0;
    };
    auto called = std::make_unique<Callback>(std::move(callback));
    sd_event_source* source = nullptr;
    const int done =
        sd_event_add_signal(impl_->event.get(), &source, number, on_delivery, called.get());
    if (done < 0) return from_errno("watch signal", std::to_string(number), -done);
    return owning(source, std::move(called));
}

void Loop::post(Callback callback) { impl_->mailbox->post(std::move(callback)); }

Result<> Loop::feed_watchdog(std::move_only_function<bool()> healthy) {
    std::uint64_t microseconds = 0;
    const int asked = sd_watchdog_enabled(/*unset_environment=*/0, &microseconds);
    if (asked < 0) return from_errno("sd_watchdog_enabled", "WATCHDOG_USEC", -asked);
    if (asked == 0) return {};
    impl_->watchdog.period = milliseconds(microseconds / 1000);
    impl_->watchdog.healthy = std::move(healthy);
    return impl_->arm_watchdog();
}

Result<> Loop::Impl::arm_watchdog() {
    watchdog.timer = TRY(add_timer(event.get(), watchdog.period / 2, [this] { feed_watchdog(); }));
    return {};
}

void Loop::Impl::feed_watchdog() {
    if (watchdog.healthy()) notify_systemd("WATCHDOG=1");
    // Without a timer the watchdog expires and systemd restarts the process.
    std::ignore = arm_watchdog();
}

Result<int> Loop::run() {
    const int code = sd_event_loop(impl_->event.get());
    if (code < 0) return from_errno("sd_event_loop", "event loop", -code);
    return code;
}

Result<bool> Loop::turn() {
    const int dispatched = sd_event_run(impl_->event.get(), 0);
    if (dispatched < 0) return from_errno("sd_event_run", "event loop", -dispatched);
    return dispatched > 0;
}

void Loop::stop(int code) {
    // Through the mailbox: sd-event belongs to one thread, and earlier callbacks still run.
    post([event = impl_->event.get(), code] { sd_event_exit(event, code); });
}

void notify_systemd(const char* state) { sd_notify(/*unset_environment=*/0, state); }

}  // namespace kubexm
