#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "daemon/base/backoff.hpp"
#include "daemon/base/error.hpp"
#include "daemon/executor/wire/channel.hpp"
#include "daemon/executor/wire/messages.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::agent {

/// kubexmd's connection to the executor. Reconnects with back-off. The peer must be a process of
/// root. Loop thread.
class ExecutorConnection {
public:
    struct Listener {
        /// Connected, or why not.
        std::function<void(const Result<>&)> on_change;
        /// Every reply after the Hello.
        std::function<void(const wire::Reply&)> on_reply;
    };

    /// `program`: "kubexmd 0.1.0".
    ExecutorConnection(Loop& loop, std::string socket, std::string program, Listener listener);

    /// Connects now, and again whenever the connection is lost.
    void start();
    /// unavailable: not connected.
    Result<> send(const wire::Request& request, std::span<const int> descriptors = {});

private:
    Result<> connect();
    Result<> check_peer(const wire::Channel& channel) const;
    void on_readable();
    void receive(const wire::Reply& reply);
    void disconnect(const Error& why);
    void retry_later();

    Loop& loop_;
    std::string socket_;
    std::string program_;
    Listener listener_;
    std::optional<wire::Channel> channel_;
    Loop::Handle source_;
    Loop::Handle timer_;  // deadline of the Hello, or the next try
    Backoff backoff_;
    bool greeted_ = false;
};

}  // namespace kubexm::agent
