#pragma once

#include <trantor/net/TcpConnection.h>

#include <cstddef>
#include <functional>
#include <unordered_map>

namespace kubexm::http {

/// Who is connected, and what each may cost us: a number of connections, bytes of a request, bytes
/// of answers that nobody takes, and time. I/O thread only.
class Connections {
public:
    /// `on_empty` is called whenever nobody is connected any more.
    explicit Connections(std::function<void()> on_empty) : on_empty_(std::move(on_empty)) {}

    /// A connection came or went.
    void on_change(const trantor::TcpConnectionPtr& connection);

    /// A request came in whole: its sender has earned another spell of our idle_timeout.
    void on_request(const trantor::TcpConnectionPtr& connection);

    /// Takes nobody new, and lets those who are here go when they have their answers.
    void close();

    bool empty() const { return clients_.empty(); }

private:
    struct Client {
        trantor::TcpConnectionPtr connection;
        trantor::TimerId idle_timeout = 0;
        std::size_t received = 0;  // up to the end of the last request
    };

    void accept(const trantor::TcpConnectionPtr& connection);
    void limit_bytes(const trantor::TcpConnectionPtr& connection);
    void restart_patience(Client& client);
    bool exceeds_request(const trantor::TcpConnectionPtr& connection) const;

    std::function<void()> on_empty_;
    std::unordered_map<const trantor::TcpConnection*, Client> clients_;
    bool closing_ = false;
};

}  // namespace kubexm::http
