#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "daemon/agent/executor_connection.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::agent {

/// Requests to the executor, one at a time, each with all its replies. A refusal or a lost
/// connection ends a request with an error. Loop thread.
class ExecutorClient {
public:
    /// Gets every reply; after an error there are no more.
    using Handler = std::move_only_function<void(const Result<wire::Reply>&)>;

    /// `on_change`: the executor is connected, or why not.
    ExecutorClient(Loop& loop, std::string socket, std::string program,
                   std::function<void(const Result<>&)> on_change);

    void start() { connection_.start(); }
    void ask(wire::Request request, std::vector<Fd> contents, Handler handler);

private:
    struct Pending {
        wire::Request request;
        std::vector<Fd> contents;
        Handler handler;
    };
    void on_change(const Result<>& connected);
    void on_reply(const wire::Reply& reply);
    void send_first();
    void end_first(const Result<wire::Reply>& last);

    std::function<void(const Result<>&)> on_change_;
    ExecutorConnection connection_;
    std::deque<Pending> pending_;  // the first one was sent
    bool connected_ = false;
};

}  // namespace kubexm::agent
