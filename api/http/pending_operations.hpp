#pragma once

#include <drogon/HttpResponse.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "api/http/server.hpp"

namespace kubexm::http {

/// Commands that wait for a decision of the agent, and the requests that wait for the answer.
class PendingOperations : public std::enable_shared_from_this<PendingOperations> {
public:
    using Send = std::function<void(const drogon::HttpResponsePtr&)>;

    /// `longest`: how long a request waits for a decision.
    PendingOperations(RunCommand run_command, std::chrono::milliseconds longest)
        : run_command_(std::move(run_command)), longest_(longest) {}

    /// Passes a command to the agent; `send` gets the answer, on the I/O thread. I/O thread.
    void submit(model::Command command, Send send);
    /// Drops all of them: Drogon is about to end. Any thread.
    void close();

private:
    bool add(const std::string& id, Send send);
    void answer(const std::string& id, const Result<std::string>& decision);

    RunCommand run_command_;
    std::chrono::milliseconds longest_;
    std::mutex mutex_;
    std::map<std::string, Send> pending_;  // by id; guarded by mutex_
    bool closed_ = false;                  // guarded by mutex_
};

}  // namespace kubexm::http
