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

/// Who asks, as the kernel says.
struct Caller {
    std::uint32_t uid = 0;
    std::int64_t pid = 0;

    bool operator==(const Caller&) const = default;
};

/// Refusals on their way into the audit. Somebody who is refused all day shall not push out of it
/// what happened before: beyond so many an hour and user, or so many of the same text, they are
/// counted, and the count is written. Any thread.
class Refusals {
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::size_t kOneByOne = 500;  // an hour and user
    static constexpr std::size_t kOfOneText = 20;  // of these

    struct Entry {
        Caller caller;
        std::string what;

        bool operator==(const Entry&) const = default;
    };

    void add(Caller caller, std::string_view what, Time now);
    /// The oldest that waits to be written, and its end once it is.
    std::optional<Entry> first() const;
    void written();

private:
    struct Hour {
        Time begin;
        std::size_t added = 0;
        std::map<std::string, std::size_t> texts;  // how often each was added
        std::size_t counted = 0;
    };

    mutable std::mutex mutex_;
    std::map<std::uint32_t, Hour> hours_;  // by user
    std::deque<Entry> waiting_;
};

}  // namespace kubexm::executor
