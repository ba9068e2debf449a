#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "api/http/server.hpp"
#include "tests/unit/api/http/client.hpp"

namespace kubexm::http {

/// The agent of the tests: accepts leave, refuses adopt, cannot decide about resume, and leaves the
/// rest to the test.
class TestAgent {
public:
    struct Asked {
        model::Command command;
        OnDecision decide;
    };

    void submit(const model::Command& command, OnDecision decide) {
        using model::Verb;
        if (command.verb == Verb::leave) return decide("This host leaves.");
        if (command.verb == Verb::adopt) return decide(fail(Code::conflict, "adopt: not held"));
        if (command.verb == Verb::resume) return decide(fail(Code::unavailable, "resume: later"));
        const std::lock_guard lock(mutex_);
        asked_.push_back({command, std::move(decide)});
        changed_.notify_one();
    }

    /// The next command that waits for its decision.
    Asked next() {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, kDeadline, [this] { return !asked_.empty(); })) {
            throw std::runtime_error("no command");
        }
        Asked first = std::move(asked_.front());
        asked_.pop_front();
        return first;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Asked> asked_;
};

}  // namespace kubexm::http
