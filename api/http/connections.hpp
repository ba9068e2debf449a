#pragma once

#include <trantor/net/TcpConnection.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <unordered_map>

#include "api/http/peer.hpp"

namespace kubexm::http {

/// The open connections, their peers and their limits: number, bytes of a request, bytes of unread
/// answers, and time. I/O thread only.
class Connections {
public:
    /// `on_empty` is called whenever the last connection has closed.
    Connections(std::chrono::milliseconds idle_timeout, std::function<void()> on_empty)
        : idle_timeout_(idle_timeout), on_empty_(std::move(on_empty)) {}

    /// The peer of the connection that opens next: Drogon tells the descriptor of an accepted
    /// socket, and then, before it accepts another one, its connection.
    void on_accept(const ClientPeer& peer) { accepted_ = peer; }

    /// A connection opened or closed.
    void on_change(const trantor::TcpConnectionPtr& connection);

    /// A whole request was received: restarts the idle timeout of its connection, or lets it close
    /// after the answer. Returns the peer.
    ClientPeer on_request(const trantor::TcpConnectionPtr& connection);

    /// Closes the connections after their answers; one that has not sent a request yet gets its
    /// first answer.
    void close();

    bool empty() const { return clients_.empty(); }

private:
    struct Client {
        trantor::TcpConnectionPtr connection;
        ClientPeer peer;
        trantor::TimerId idle_timer = 0;
        std::size_t received = 0;  // up to the end of the last request
    };

    void accept(const trantor::TcpConnectionPtr& connection, const ClientPeer& peer);
    void limit_bytes(const trantor::TcpConnectionPtr& connection);
    void restart_idle_timer(Client& client) const;
    bool exceeds_request(const trantor::TcpConnectionPtr& connection) const;

    std::chrono::milliseconds idle_timeout_;
    std::function<void()> on_empty_;
    ClientPeer accepted_;
    std::unordered_map<const trantor::TcpConnection*, Client> clients_;
    bool closing_ = false;
};

}  // namespace kubexm::http
