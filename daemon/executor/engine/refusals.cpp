#include "daemon/executor/engine/refusals.hpp"

#include <fmt/format.h>

namespace kubexm::executor {

namespace {

// While the journal cannot be written.
constexpr std::size_t kMaxWaiting = 2 * Refusals::kMaxPerHour;

}  // namespace

std::string audited(const Caller& caller, std::string_view detail) {
    if (!caller.on_behalf_of) return std::string(detail);
    return fmt::format("{} (by its own word for user {}, {})", detail, caller.on_behalf_of->uid,
                       caller.on_behalf_of->door);
}

void Refusals::add(const Caller& caller, std::string_view what, Time now) {
    const std::scoped_lock lock(mutex_);
    Hour& hour = hours_[caller.uid];
    if (hour.begin == Time{} || now - hour.begin >= std::chrono::hours(1)) {
        if (hour.counted > 0) {
            waiting_.push_back(
                {caller, fmt::format("{} more refusals in the hour before", hour.counted)});
        }
        hour = {.begin = now};
    }
    const bool fits = hour.added < kMaxPerHour && waiting_.size() < kMaxWaiting;
    if (fits && hour.texts[std::string(what)]++ < kMaxOfOneText) {
        ++hour.added;
        waiting_.push_back({caller, std::string(what)});
    } else if (hour.counted++ == 0) {
        waiting_.push_back(
            {caller,
             fmt::format("further refusals of uid {} in this hour are only counted", caller.uid)});
    }
}

std::optional<Refusals::Entry> Refusals::first() const {
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    return waiting_.front();
}

void Refusals::pop() {
    const std::scoped_lock lock(mutex_);
    waiting_.pop_front();
}

}  // namespace kubexm::executor
