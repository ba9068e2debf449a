#include "api/http/connections.hpp"

#include <trantor/net/EventLoop.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>
#include <vector>

namespace kubexm::http {

namespace {

using namespace std::chrono_literals;
using trantor::MsgBuffer;
using trantor::TcpConnection;
using trantor::TcpConnectionPtr;

constexpr int kMaxConnections =
    32;  // at either door: whoever crowds TCP keeps nobody off the socket
constexpr std::size_t kMaxRequest = std::size_t{96} * 1024;  // a body of 64 KiB and its headers
constexpr std::size_t kMaxUnread = std::size_t{1024} * 1024;
constexpr auto kPatience = 10s;  // from one whole request to the next, however the bytes trickle

/// The callback that @EXECUTOR@ bytes to Drogon's parser; trantor keeps it to derived classes.
struct Opened : TcpConnection {
    static const trantor::RecvMessageCallback& receiver(const TcpConnection& connection) {
        return connection.*&Opened::recvMsgCallback_;
    }
};

}  // namespace

void Connections::on_change(const TcpConnectionPtr& connection) {
    if (connection->connected()) {
        accept(connection);
        return;
    }
    const auto client = clients_.find(connection.get());
    if (client == clients_.end()) return;
    connection->getLoop()->invalidateTimer(client->second.idle_timeout);
    clients_.erase(client);
    if (clients_.empty()) on_empty_();
}

void Connections::accept(const TcpConnectionPtr& connection) {
    const auto door = connection->localAddr().family();
    const auto same_door = [door](const auto& entry) {
        return entry.second.connection->localAddr().family() == door;
    };
    if (closing_ || std::ranges::count_if(clients_, same_door) >= kMaxConnections) {
        return connection->forceClose();
    }
    Client& client = clients_[connection.get()];
    client.connection = connection;
    restart_patience(client);
    limit_bytes(connection);
}

void Connections::restart_patience(Client& client) {
    auto* loop = client.connection->getLoop();
    loop->invalidateTimer(client.idle_timeout);
    const std::weak_ptr<TcpConnection> slow = client.connection;
    client.idle_timeout = loop->runAfter(kPatience, [slow] {
        if (auto connection = slow.lock()) connection->forceClose();
    });
}

/// Drogon bounds neither the number of headers nor what it keeps for a client that does not read,
/// and lets exceptions of its parser end the process.
void Connections::limit_bytes(const TcpConnectionPtr& connection) {
    connection->setHighWaterMarkCallback(
        [](const TcpConnectionPtr& deaf, std::size_t) { deaf->forceClose(); }, kMaxUnread);
    auto parse = Opened::receiver(*connection);
    connection->setRecvMsgCallback(
        [this, parse = std::move(parse)](const TcpConnectionPtr& from, MsgBuffer* bytes) {
            try {
                if (!exceeds_request(from)) return parse(from, bytes);
            } catch (const std::exception&) {
                bytes->retrieveAll();  // the parser choked on it: not a request
            }
            from->forceClose();
        });
}

bool Connections::exceeds_request(const TcpConnectionPtr& connection) const {
    const auto client = clients_.find(connection.get());
    return client == clients_.end() ||
           connection->bytesReceived() - client->second.received > kMaxRequest;
}

void Connections::on_request(const TcpConnectionPtr& connection) {
    const auto client = clients_.find(connection.get());
    if (client == clients_.end()) return;
    client->second.received = connection->bytesReceived();
    restart_patience(client->second);
}

void Connections::close() {
    closing_ = true;
    if (clients_.empty()) return on_empty_();
    std::vector<TcpConnectionPtr> leaving;  // who leaves at once changes the list meanwhile
    leaving.reserve(clients_.size());
    for (const auto& [key, client] : clients_) leaving.push_back(client.connection);
    for (const auto& connection : leaving) connection->shutdown();
}

}  // namespace kubexm::http
