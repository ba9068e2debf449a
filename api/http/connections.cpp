#include "api/http/connections.hpp"

#include <trantor/net/EventLoop.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace kubexm::http {

namespace {

using trantor::MsgBuffer;
using trantor::TcpConnection;
using trantor::TcpConnectionPtr;

constexpr int kMaxConnections = 32;  // per listener: a flood over TCP must not block the socket
constexpr std::size_t kMaxRequest = std::size_t{96} * 1024;  // a body of 64 KiB and its headers
constexpr std::size_t kMaxUnread = std::size_t{1024} * 1024;

/// The callback that passes bytes to Drogon's parser, which trantor makes protected.
struct Opened : TcpConnection {
    static const trantor::RecvMessageCallback& receiver(const TcpConnection& connection) {
        return connection.*&Opened::recvMsgCallback_;
    }
};

}  // namespace

void Connections::on_change(const TcpConnectionPtr& connection) {
    if (connection->connected()) {
        accept(connection, std::exchange(accepted_, {}));
        return;
    }
    const auto client = clients_.find(connection.get());
    if (client == clients_.end()) return;
    connection->getLoop()->invalidateTimer(client->second.idle_timer);
    clients_.erase(client);
    if (clients_.empty()) on_empty_();
}

void Connections::accept(const TcpConnectionPtr& connection, const ClientPeer& peer) {
    const auto same_listener = [&](const auto& entry) {
        return entry.second.peer.listener == peer.listener;
    };
    if (std::ranges::count_if(clients_, same_listener) >= kMaxConnections) {
        return connection->forceClose();
    }
    Client& client = clients_[connection.get()];
    client.connection = connection;
    client.peer = peer;
    restart_idle_timer(client);
    limit_bytes(connection);
}

void Connections::restart_idle_timer(Client& client) const {
    auto* loop = client.connection->getLoop();
    loop->invalidateTimer(client.idle_timer);
    const std::weak_ptr<TcpConnection> idle = client.connection;
    client.idle_timer = loop->runAfter(idle_timeout_, [idle] {
        if (auto connection = idle.lock()) connection->forceClose();
    });
}

/// Drogon limits neither the headers nor the unread answers of a client, and does not catch the
/// exceptions of its parser.
void Connections::limit_bytes(const TcpConnectionPtr& connection) {
    connection->setHighWaterMarkCallback(
        [](const TcpConnectionPtr& unread, std::size_t) { unread->forceClose(); }, kMaxUnread);
    auto parse = Opened::receiver(*connection);
    connection->setRecvMsgCallback(
        [this, parse = std::move(parse)](const TcpConnectionPtr& from, MsgBuffer* bytes) {
            try {
                if (!exceeds_request(from)) return parse(from, bytes);
            } catch (const std::exception&) {
                bytes->retrieveAll();  // not a request
            }
            from->forceClose();
        });
}

bool Connections::exceeds_request(const TcpConnectionPtr& connection) const {
    const auto client = clients_.find(connection.get());
    return client == clients_.end() ||
           connection->bytesReceived() - client->second.received > kMaxRequest;
}

ClientPeer Connections::on_request(const TcpConnectionPtr& connection) {
    const auto client = clients_.find(connection.get());
    if (client == clients_.end()) return {};
    client->second.received = connection->bytesReceived();
    restart_idle_timer(client->second);
    // Drogon sends the answer before the loop runs this.
    if (closing_) connection->getLoop()->queueInLoop([connection] { connection->shutdown(); });
    return client->second.peer;
}

void Connections::close() {
    closing_ = true;
    if (clients_.empty()) return on_empty_();
    std::vector<TcpConnectionPtr> open;  // a copy: a connection that closes at once leaves the map
    open.reserve(clients_.size());
    for (const auto& [key, client] : clients_) {
        if (client.received > 0) open.push_back(client.connection);
    }
    for (const auto& connection : open) connection->shutdown();
}

}  // namespace kubexm::http
