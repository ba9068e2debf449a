#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/executor/wire/channel.hpp"
#include "daemon/executor/wire/messages.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::executor {

/// The connection of one client. Never blocks the loop; closes the connection of a client that does
/// not read its replies. Loop thread.
class Session {
public:
    using OnRequest = std::function<void(Session&, wire::Request, std::vector<Fd>)>;
    using OnClose = std::function<void(Session&, const Error&)>;

    Session(Loop& loop, wire::Channel channel, wire::Peer peer, std::uint64_t number);

    /// Starts to read. `on_close` must not destroy the session: it is called by its own code.
    Result<> start(OnRequest on_request, OnClose on_close);
    void send(const wire::Reply& reply);

    const wire::Peer& peer() const { return peer_; }
    std::uint64_t number() const { return number_; }
    bool greeted = false;
    bool offering = false;  // a plan that is neither accepted nor refused yet
    std::string following;  // id of the plan whose events are sent

private:
    void on_io(std::uint32_t events);
    void read_one();
    void write_waiting();
    void want_write(bool wanted);
    void close_with_reply(const Error& why);
    Result<> watch(std::uint32_t events);
    void close(const Error& why);

    Loop& loop_;
    wire::Channel channel_;
    wire::Peer peer_;
    std::uint64_t number_;
    Loop::Handle source_;
    std::deque<std::string> waiting_;
    std::size_t waiting_bytes_ = 0;
    bool wants_write_ = false;
    bool peer_closed_ = false;  // replies are dropped, frames are still read
    bool closed_ = false;
    OnRequest on_request_;
    OnClose on_close_;
};

}  // namespace kubexm::executor
