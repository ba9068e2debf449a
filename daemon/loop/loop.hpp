#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "daemon/base/error.hpp"

namespace kubexm {

/// One sd-event loop. Everything but post() and stop() belongs to the thread that runs it.
/// At rest it does not wake up: timers are one-shot and the watchdog is fed from a timer only where
/// systemd asked for one.
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

    static Result<Loop> create();
    Loop(Loop&&) noexcept;
    Loop& operator=(Loop&&) noexcept;
    ~Loop();

    /// EPOLLIN, EPOLLOUT, ... on a descriptor that the caller owns and that outlives the handle.
    Result<Handle> on_io(int fd, std::uint32_t events, IoCallback callback);
    /// Once, after a delay.
    Result<Handle> after(std::chrono::milliseconds delay, Callback callback);
    /// SIGTERM, SIGHUP, ...: blocked in this thread, for good, and delivered here. Threads that are
    /// started later inherit the block; one that was there before must not be, or it gets the
    /// signal.
    Result<Handle> on_signal(int number, Callback callback);
    /// Runs the callback on the loop's thread soon, after those posted before. Any thread.
    void post(Callback callback);

    /// Feeds systemd's watchdog, if it set one, while `healthy` says true: asked on the loop's
    /// thread at half the watchdog's period.
    Result<> feed_watchdog(std::move_only_function<bool()> healthy);

    /// Runs until stop(), once; returns its code, which is not negative.
    Result<int> run();
    /// After what was posted before; what is posted later is dropped. Any thread.
    void stop(int code);

private:
    struct Impl;
    explicit Loop(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// READY=1, STATUS=..., STOPPING=1, RELOADING=1 to systemd; nothing where it did not start us.
void notify_systemd(const char* state);

}  // namespace kubexm
