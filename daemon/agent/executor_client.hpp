#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "daemon/agent/executor_connection.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::agent {

/// Questions to the executor, one after the other, each with all its answers. A question that the
/// executor refuse, or whose answers a broken connection cut off, ends with an error. Loop thread.
class ExecutorClient {
public:
    /// Told every answer; after an error there are no more.
    using Handler = std::move_only_function<void(const Result<wire::Reply>&)>;

    /// `on_change`: the executor answers, or why not.
    ExecutorClient(Loop& loop, std::string socket, std::string program,
                   std::function<void(const Result<>&)> on_change);

    void start() { link_.start(); }
    void ask(wire::Request request, std::vector<Fd> contents, Handler handler);

private:
    struct Question {
        wire::Request request;
        std::vector<Fd> contents;
        Handler handler;
    };
    void on_change(const Result<>& answer);
    void on_reply(const wire::Reply& reply);
    void send_first();
    void end_first(const Result<wire::Reply>& last);

    std::function<void(const Result<>&)> on_change_;
    ExecutorConnection link_;
    std::deque<Question> waiting_;  // the first one is being answered
    bool connected_ = false;
};

}  // namespace kubexm::agent
