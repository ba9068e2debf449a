#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "daemon/agent/executor_connection.hpp"
#include "daemon/agent/executor_port.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::agent {

/// Requests to the executor, many at a time, each with all its replies. A refusal or a lost
/// connection ends a request with an error; it is not repeated. Loop thread.
class ExecutorClient : public ExecutorPort {
public:
    /// `on_change`: the executor is connected, or why not.
    ExecutorClient(Loop& loop, std::string socket, std::string program,
                   std::function<void(const Result<>&)> on_change);

    void start() { connection_.start(); }
    /// Without a connection the request waits for the next attempt to connect.
    void ask(wire::Request request, std::vector<Fd> contents, Handler handler) override;

private:
    struct Waiting {
        wire::Request request;
        std::vector<Fd> contents;
        Handler handler;
    };
    void on_change(const Result<>& connected);
    void on_reply(const wire::NumberedReply& reply);
    void send(Waiting request);
    std::uint32_t new_id();

    std::function<void(const Result<>&)> on_change_;
    ExecutorConnection connection_;
    std::vector<Waiting> waiting_;           // for a connection
    std::map<std::uint32_t, Handler> open_;  // by id
    std::uint32_t last_id_ = 0;
    bool connected_ = false;
};

}  // namespace kubexm::agent
