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

/// For whom a client says that it asks. Audited, never used for a decision.
struct Claim {
    std::uint32_t uid = 0;
    std::string door;  // where the order came in at the client

    bool operator==(const Claim&) const = default;
};

/// The peer of a request, as the kernel reports it.
struct Caller {
    std::uint32_t uid = 0;
    std::int64_t pid = 0;
    std::optional<Claim> on_behalf_of;

    bool operator==(const Caller&) const = default;
};

/// A record of the audit, with the caller's claim.
std::string audited(const Caller& caller, std::string_view detail);

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

    void add(const Caller& caller, std::string_view what, Time now);
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
