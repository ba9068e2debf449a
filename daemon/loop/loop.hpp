#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "daemon/base/error.hpp"

namespace kubexm {

/// One sd-event loop. Everything but post() and stop() belongs to the thread that runs it.
/// An idle loop does not wake up: timers are one-shot, and there is a watchdog timer only if
/// systemd set WatchdogSec=.
class Loop {
public:
    /// Dropping a source removes it from the loop. Safe inside its own callback.
    class Source {
    public:
        virtual ~Source() = default;
    };
    using Handle = std::unique_ptr<Source>;
    using Callback = std::move_only_function<void()>;
    using IoCallback = std::move_only_function<void(std::uint32_t events)>;

    /// Where timers come from; tests have their own.
    class Timers {
    public:
        virtual ~Timers() = default;
        virtual Result<Handle> after(std::chrono::milliseconds delay, Callback callback) = 0;
    };

    static Result<Loop> create();
    static Result<Loop> create(std::unique_ptr<Timers> timers);
    Loop(Loop&&) noexcept;
    Loop& operator=(Loop&&) noexcept;
    ~Loop();

    /// EPOLLIN, EPOLLOUT, ... on a descriptor that the caller owns and that outlives the handle.
    Result<Handle> on_io(int fd, std::uint32_t events, IoCallback callback);
    /// Once, after a delay. Timers that are due in the same turn of the loop fire in any order. The
    /// callback is destroyed once it has run.
    Result<Handle> after(std::chrono::milliseconds delay, Callback callback);
    /// Blocks SIGTERM, SIGHUP, ... in this thread for good and delivers it here. Call it before
    /// other threads start: they inherit the block, and an older thread would get the signal.
    Result<Handle> on_signal(int number, Callback callback);
    /// Runs the callback on the loop's thread soon, after those posted before. Any thread.
    void post(Callback callback);

    /// Feeds systemd's watchdog, if WatchdogSec= is set, as long as `healthy` returns true. Calls
    /// `healthy` on the loop's thread at half the watchdog's period.
    Result<> feed_watchdog(std::move_only_function<bool()> healthy);

    /// Runs until stop(), once; returns its code, which is not negative.
    Result<int> run();
    /// For tests: dispatches one ready event without waiting; false: none was ready.
    Result<bool> turn();
    /// Callbacks posted before still run, those posted later are dropped. Any thread.
    void stop(int code);

private:
    struct Impl;
    explicit Loop(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// sd_notify(): READY=1, STATUS=..., STOPPING=1, RELOADING=1. No effect without NOTIFY_SOCKET.
void notify_systemd(const char* state);

}  // namespace kubexm
