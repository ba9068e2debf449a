#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace kubexm::executor {

/// The peer of a request, as the kernel reports it.
struct Caller {
    std::uint32_t uid = 0;
    std::int64_t pid = 0;

    bool operator==(const Caller&) const = default;
};

/// Refusals that wait to be audited. A user who is refused all day must not push older entries out
/// of the audit: beyond a limit per hour and user, and per text, refusals are only counted, and the
/// count is written. Any thread.
class Refusals {
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::size_t kMaxPerHour = 500;   // of one user
    static constexpr std::size_t kMaxOfOneText = 20;  // of these

    struct Entry {
        Caller caller;
        std::string what;

        bool operator==(const Entry&) const = default;
    };

    void add(Caller caller, std::string_view what, Time now);
    /// The oldest one, which stays until pop().
    std::optional<Entry> first() const;
    void pop();

private:
    struct Hour {
        Time begin;
        std::size_t added = 0;
        std::map<std::string, std::size_t> texts;  // to how often each was added
        std::size_t counted = 0;
    };

    mutable std::mutex mutex_;
    std::map<std::uint32_t, Hour> hours_;  // by user
    std::deque<Entry> waiting_;
};

}  // namespace kubexm::executor
