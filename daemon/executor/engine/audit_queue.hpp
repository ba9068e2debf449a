#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/model/on_behalf_of.hpp"

namespace kubexm::executor {

/// The peer of a request, as the kernel reports it.
struct Caller {
    std::uint32_t uid = 0;
    std::int64_t pid = 0;
    std::optional<model::OnBehalfOf> on_behalf_of;

    bool operator==(const Caller&) const = default;
};

/// The detail of a record of the audit, with the person or cluster on whose behalf the caller acts.
std::string audited(const Caller& caller, std::string_view detail);

/// Events of users that no quota bounds, such as refusals, until they are audited. A user who
/// causes them all day must not push older entries out of the audit: beyond a limit per hour, user
/// and event, and per subject, they are only counted, and the count is written. Any thread.
class AuditQueue {
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::size_t kMaxPerHour = 500;      // of one user and event
    static constexpr std::size_t kMaxOfOneSubject = 20;  // of these

    struct Entry {
        Caller caller;
        std::string event;
        std::string detail;

        bool operator==(const Entry&) const = default;
    };

    /// `subject`: the limit of equal events is per subject.
    void add(Entry entry, const std::string& subject, Time now);
    /// The oldest one, which stays until pop().
    std::optional<Entry> first() const;
    void pop();

private:
    struct Hour {
        Time begin;
        std::size_t added = 0;
        std::map<std::string, std::size_t> subjects;  // to how often each was added
        std::size_t counted = 0;
    };

    mutable std::mutex mutex_;
    std::map<std::pair<std::uint32_t, std::string>, Hour> hours_;  // by user and event
    std::deque<Entry> waiting_;
};

}  // namespace kubexm::executor
