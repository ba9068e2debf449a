#include "daemon/loop/mailbox.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "daemon/base/try.hpp"

namespace kubexm {

namespace {

// Callbacks per turn of the loop, so that a long queue does not delay descriptors and timers.
constexpr std::size_t kPerTurn = 64;

bool is_stopping(sd_event* event) {
    int code = 0;
    return sd_event_get_exit_code(event, &code) >= 0;
}

}  // namespace

Result<std::unique_ptr<Mailbox>> Mailbox::create(sd_event* event) {
    Fd wakeup{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!wakeup) return from_errno("eventfd", "event loop");
    std::unique_ptr<Mailbox> mailbox{new Mailbox(event, std::move(wakeup))};
    TRY(mailbox->attach());
    return mailbox;
}

Result<> Mailbox::attach() {
    const auto on_wakeup = [](sd_event_source*, int, std::uint32_t, void* mailbox) noexcept {
        static_cast<Mailbox*>(mailbox)->deliver();
        return 0;
    };
    sd_event_source* source = nullptr;
    const int done = sd_event_add_io(event_, &source, wakeup_.get(), EPOLLIN, on_wakeup, this);
    if (done < 0) return from_errno("sd_event_add_io", "eventfd", -done);
    source_ = std::make_unique<EventSource>(source);
    return {};
}

void Mailbox::post(Loop::Callback callback) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(callback));
    ::eventfd_write(wakeup_.get(), 1);
}

void Mailbox::deliver() {
    for (Loop::Callback& callback : take()) {
        if (is_stopping(event_)) return;
        callback();
    }
}

std::vector<Loop::Callback> Mailbox::take() {
    const std::lock_guard lock(mutex_);
    const auto end =
        waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(kPerTurn, waiting_.size()));
    std::vector<Loop::Callback> taken(std::make_move_iterator(waiting_.begin()),
                                      std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    eventfd_t ignored = 0;
    if (waiting_.empty()) ::eventfd_read(wakeup_.get(), &ignored);
    return taken;
}

}  // namespace kubexm
