#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/backoff.hpp"
#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
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
        std::function<void(const wire::NumberedReply&)> on_reply;
    };
    static constexpr std::uint32_t kHelloId = 1;

    /// `program`: "kubexmd 0.1.0".
    ExecutorConnection(Loop& loop, std::string socket, std::string program, Listener listener);

    /// Connects now, and again whenever the connection is lost.
    void start();
    /// Only while connected; waits for space in the socket. invalid: too large for a frame.
    Result<> send(std::uint32_t id, const wire::Request& request, std::vector<Fd> descriptors = {});

private:
    struct Outgoing {
        std::string text;
        std::vector<Fd> descriptors;
    };
    Result<> connect();
    Result<> check_peer(const wire::Channel& channel) const;
    Result<> watch(std::uint32_t events);
    void on_io(std::uint32_t events);
    void on_readable();
    void receive(const wire::NumberedReply& reply);
    void write_waiting();
    Result<> write_some();
    Result<> want_write(bool wanted);
    void disconnect(const Error& why);
    void retry_later();

    Loop& loop_;
    std::string socket_;
    std::string program_;
    Listener listener_;
    std::optional<wire::Channel> channel_;
    Loop::Handle source_;
    std::deque<Outgoing> waiting_;
    bool wants_write_ = false;
    Loop::Handle timer_;  // deadline of the Hello, or the next try
    Backoff backoff_;
    bool greeted_ = false;
};

}  // namespace kubexm::agent
