#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/executor/wire/channel.hpp"
#include "daemon/executor/wire/messages.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::agent {

/// kubexmd's connection to the executor: made, greeted, and made again after it broke, less and
/// less often. Only a process of root is taken for the executor. Loop thread.
class ExecutorConnection {
public:
    struct Listener {
        /// The executor answers, or why not. Told at every change.
        std::function<void(const Result<>&)> on_change;
        /// Everything the executor says besides their greeting.
        std::function<void(const wire::Reply&)> on_reply;
    };

    /// `program` is what we call ourselves: "kubexmd 0.1.0".
    ExecutorConnection(Loop& loop, std::string socket, std::string program, Listener listener);

    /// Connects now, and by itself from then on.
    void start();
    /// unavailable: there is no connection at the moment.
    Result<> ask(const wire::Request& request, std::span<const int> descriptors = {});

private:
    Result<> connect();
    Result<> check_peer(const wire::Channel& channel) const;
    void on_readable();
    void hear(const wire::Reply& reply);
    void lose(const Error& why);
    void retry_later();

    Loop& loop_;
    std::string socket_;
    std::string program_;
    Listener listener_;
    std::optional<wire::Channel> channel_;
    Loop::Handle source_;
    Loop::Handle timer_;  // until the greeting: its deadline; without a connection: the next try
    std::chrono::milliseconds delay_;
    bool greeted_ = false;
};

}  // namespace kubexm::agent
