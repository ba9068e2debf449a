#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/executor/wire/channel.hpp"
#include "daemon/executor/wire/messages.hpp"
#include "daemon/loop/loop.hpp"

namespace kubexm::executor {

/// A request without its last reply.
struct OpenRequest {
    std::size_t descriptors = 0;  // that wait with it
    std::string follows;          // id of the plan whose events are sent
    bool subscribes = false;
};

/// The connection of one client and its open requests. Never blocks the loop; closes the connection
/// of a client that does not read its replies. Loop thread.
class Session {
public:
    /// The request is open already.
    using OnRequest =
        std::function<void(Session&, std::uint32_t id, wire::Request, std::vector<Fd>)>;
    using OnClose = std::function<void(Session&, const Error&)>;

    Session(Loop& loop, wire::Channel channel, wire::Peer peer, std::uint64_t number);

    /// Starts to read. `on_close` must not destroy the session: it is called by its own code.
    Result<> start(OnRequest on_request, OnClose on_close);
    /// Without effect where the request is not open any more.
    void send(std::uint32_t id, const wire::Reply& reply, wire::Part part);
    /// To every open request that `wanted` selects.
    using Wanted = std::function<bool(const OpenRequest&)>;
    void send_to(const Wanted& wanted, const wire::Reply& reply, wire::Part part);

    const wire::Peer& peer() const { return peer_; }
    std::uint64_t number() const { return number_; }
    /// nullptr: not open any more.
    OpenRequest* find(std::uint32_t id);
    std::size_t open_requests() const { return open_.size(); }
    std::size_t waiting_descriptors() const;
    bool greeted = false;

private:
    void on_io(std::uint32_t events);
    void read_one();
    void queue(std::string frame, std::shared_ptr<const Fd> content = nullptr);
    struct Outgoing {
        std::string frame;
        std::shared_ptr<const Fd> content;  // sent with it; null: none
    };
    Result<> write(const Outgoing& next);
    void write_waiting();
    void want_write(bool wanted);
    void close_with_reply(std::uint32_t id, const Error& why);
    Result<> watch(std::uint32_t events);
    void close(const Error& why);

    Loop& loop_;
    wire::Channel channel_;
    wire::Peer peer_;
    std::uint64_t number_;
    Loop::Handle source_;
    std::map<std::uint32_t, OpenRequest> open_;  // by id
    std::deque<Outgoing> waiting_;
    std::size_t waiting_bytes_ = 0;
    bool wants_write_ = false;
    bool peer_closed_ = false;  // replies are dropped, frames are still read
    bool closed_ = false;
    OnRequest on_request_;
    OnClose on_close_;
};

}  // namespace kubexm::executor
