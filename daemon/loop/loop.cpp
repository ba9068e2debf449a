#include "daemon/loop/loop.hpp"

#include <systemd/sd-daemon.h>

#include <csignal>
#include <string>
#include <tuple>
#include <utility>

#include "daemon/loop/event.hpp"
#include "daemon/loop/mailbox.hpp"
#include "daemon/loop/timers.hpp"

namespace kubexm {

// The callbacks given to sd-event are noexcept: an exception must not travel through its frames.

struct Loop::Impl {
    Event event;
    std::unique_ptr<Mailbox> mailbox;
    std::shared_ptr<Timers> timers;

    struct {
        std::chrono::milliseconds period{};
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
    auto mailbox = Mailbox::create(event);
    if (!mailbox) return std::unexpected(mailbox.error());
    impl->mailbox = std::move(*mailbox);
    auto timers = Timers::create(event);
    if (!timers) return std::unexpected(timers.error());
    impl->timers = std::move(*timers);
    return Loop(std::move(impl));
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
    if (done < 0) return from_errno("watching descriptor", std::to_string(fd), -done);
    return owning(source, std::move(called));
}

Result<Loop::Handle> Loop::after(std::chrono::milliseconds delay, Callback callback) {
    return impl_->timers->after(delay, std::move(callback));
}

Result<Loop::Handle> Loop::on_signal(int number, Callback callback) {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, number);
    if (const int failed = ::pthread_sigmask(SIG_BLOCK, &set, nullptr); failed != 0) {
        return from_errno("blocking signal", std::to_string(number), failed);
    }
    const auto on_delivery = [](sd_event_source*, const signalfd_siginfo*, void* called) noexcept {
        (*static_cast<Callback*>(called))();
        return 0;
    };
    auto called = std::make_unique<Callback>(std::move(callback));
    sd_event_source* source = nullptr;
    const int done =
        sd_event_add_signal(impl_->event.get(), &source, number, on_delivery, called.get());
    if (done < 0) return from_errno("listening for signal", std::to_string(number), -done);
    return owning(source, std::move(called));
}

void Loop::post(Callback callback) { impl_->mailbox->post(std::move(callback)); }

Result<> Loop::feed_watchdog(std::move_only_function<bool()> healthy) {
    std::uint64_t microseconds = 0;
    const int asked = sd_watchdog_enabled(/*unset_environment=*/0, &microseconds);
    if (asked < 0) return from_errno("reading the watchdog's period", "WATCHDOG_USEC", -asked);
    if (asked == 0) return {};
    impl_->watchdog.period = std::chrono::milliseconds(microseconds / 1000);
    impl_->watchdog.healthy = std::move(healthy);
    return impl_->arm_watchdog();
}

Result<> Loop::Impl::arm_watchdog() {
    auto timer = timers->after(watchdog.period / 2, [this] { feed_watchdog(); });
    if (!timer) return std::unexpected(timer.error());
    watchdog.timer = std::move(*timer);
    return {};
}

void Loop::Impl::feed_watchdog() {
    if (watchdog.healthy()) notify_systemd("WATCHDOG=1");
    // Where this fails nobody feeds any more, and systemd restarts us as it should.
    std::ignore = arm_watchdog();
}

Result<int> Loop::run() {
    const int code = sd_event_loop(impl_->event.get());
    if (code < 0) return from_errno("running", "the event loop", -code);
    return code;
}

void Loop::stop(int code) {
    // Through the mailbox, because sd-event belongs to one thread; what was posted before still
    // runs.
    post([event = impl_->event.get(), code] { sd_event_exit(event, code); });
}

void notify_systemd(const char* state) { sd_notify(/*unset_environment=*/0, state); }

}  // namespace kubexm
