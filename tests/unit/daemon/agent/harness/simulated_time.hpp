#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>

#include "daemon/loop/loop.hpp"

namespace kubexm::agent {

/// Time that passes only when a test says so.
class SimulatedTime {
public:
    using Milliseconds = std::chrono::milliseconds;

    std::chrono::system_clock::time_point now() const { return start_ + elapsed_; }

    /// Somebody sets the clock; timers do not notice.
    void set_clock(Milliseconds forward) { start_ += forward; }

    /// For Loop::create().
    std::unique_ptr<Loop::Timers> timers() { return std::make_unique<Timers>(*this); }

    /// Lets time pass; `settle` runs the loop until it is idle.
    void advance(Milliseconds duration, const std::function<void()>& settle) {
        settle();
        const Milliseconds end = elapsed_ + duration;
        while (!due_.empty() && due_.begin()->first <= end) {
            auto next = due_.extract(due_.begin());
            elapsed_ = std::max(elapsed_, next.key());
            if (const auto timer = next.mapped().lock()) {
                auto callback = std::exchange(timer->callback, nullptr);
                if (callback) callback();
            }
            settle();
        }
        elapsed_ = end;
        settle();
    }

private:
    struct Timer {
        Loop::Callback callback;
    };
    struct Source : Loop::Source {
        explicit Source(std::shared_ptr<Timer> its) : timer(std::move(its)) {}
        std::shared_ptr<Timer> timer;
    };
    struct Timers : Loop::Timers {
        explicit Timers(SimulatedTime& its) : time(its) {}
        Result<Loop::Handle> after(Milliseconds delay, Loop::Callback callback) override {
            auto timer = std::make_shared<Timer>(Timer{std::move(callback)});
            time.due_.emplace(time.elapsed_ + std::max(delay, Milliseconds(0)), timer);
            return std::make_unique<Source>(std::move(timer));
        }
        SimulatedTime& time;
    };

    std::chrono::system_clock::time_point start_ = std::chrono::system_clock::now();
    Milliseconds elapsed_{0};
    std::multimap<Milliseconds, std::weak_ptr<Timer>> due_;
};

}  // namespace kubexm::agent
