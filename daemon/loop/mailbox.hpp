#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "daemon/base/fd.hpp"
#include "daemon/loop/event.hpp"

namespace kubexm {

/// Queue of callbacks from any thread to the loop's thread, first in first out.
class Mailbox {
public:
    /// `event` outlives the mailbox.
    static Result<std::unique_ptr<Mailbox>> create(sd_event* event);

    /// Any thread.
    void post(Loop::Callback callback);

private:
    Mailbox(sd_event* event, Fd wakeup) : event_(event), wakeup_(std::move(wakeup)) {}

    Result<> attach();
    void deliver();
    std::vector<Loop::Callback> take();

    sd_event* event_;
    std::mutex mutex_;
    std::deque<Loop::Callback> waiting_;  // guarded by mutex_
    Fd wakeup_;                           // an eventfd, readable while a callback waits
    std::unique_ptr<EventSource> source_;
};

}  // namespace kubexm
