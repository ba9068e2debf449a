#include "daemon/executor/engine/audit_queue.hpp"

#include <fmt/format.h>

#include "daemon/base/text.hpp"

namespace kubexm::executor {

namespace {

// While the journal cannot be written.
constexpr std::size_t kMaxWaiting = 2 * AuditQueue::kMaxPerHour;

/// Of others than root: an audit of a week must not fill the disk.
constexpr std::size_t kMaxDetail = 512;
constexpr std::string_view kCut = " ... ";

/// The reason stands at the end, behind a quoted path that may be long.
std::string without_middle(std::string_view detail) {
    if (detail.size() <= kMaxDetail) return std::string(detail);
    constexpr std::size_t kHalf = (kMaxDetail - kCut.size()) / 2;
    std::string_view end = detail.substr(detail.size() - kHalf);
    const auto is_inside_character = [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
    };
    while (!end.empty() && is_inside_character(end.front())) end.remove_prefix(1);
    return bounded_utf8(detail, kHalf) + std::string(kCut) + std::string(end);
}

/// An order of the management cluster has no user.
std::string text_of(const model::OnBehalfOf& on_behalf_of) {
    if (on_behalf_of.origin == model::Origin::management) return "the management cluster";
    return fmt::format("user {}, {}", on_behalf_of.uid, name_of(on_behalf_of.origin));
}

}  // namespace

std::string audited(const Caller& caller, std::string_view detail) {
    std::string text = caller.uid == 0 ? std::string(detail) : without_middle(detail);
    if (!caller.on_behalf_of) return text;
    return fmt::format("{} (on behalf of {}, as the client says)", text,
                       text_of(*caller.on_behalf_of));
}

void AuditQueue::add(Entry entry, const std::string& subject, Time now) {
    const std::scoped_lock lock(mutex_);
    const auto note = [&](std::string text) {
        waiting_.push_back({entry.caller, entry.event, std::move(text)});
    };
    Hour& hour = hours_[{entry.caller.uid, entry.event}];
    if (hour.begin == Time{} || now - hour.begin >= std::chrono::hours(1)) {
        if (hour.counted > 0) note(fmt::format("{} more in the hour before", hour.counted));
        hour = {.begin = now};
    }
    const bool fits = hour.added < kMaxPerHour && waiting_.size() < kMaxWaiting;
    if (fits && hour.subjects[subject]++ < kMaxOfOneSubject) {
        ++hour.added;
        waiting_.push_back(std::move(entry));
    } else if (hour.counted++ == 0) {
        note(fmt::format("further ones of uid {} in this hour are only counted", entry.caller.uid));
    }
}

std::optional<AuditQueue::Entry> AuditQueue::first() const {
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    return waiting_.front();
}

void AuditQueue::pop() {
    const std::scoped_lock lock(mutex_);
    waiting_.pop_front();
}

}  // namespace kubexm::executor
