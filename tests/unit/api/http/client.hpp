#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <bit>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "daemon/base/fd.hpp"
#include "daemon/base/unix_address.hpp"

namespace kubexm::http {

constexpr std::chrono::seconds kDeadline(20);  // reached only in a failure

/// Whether a condition becomes true before the deadline.
template <typename Condition>
bool soon(const Condition& condition) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!condition() && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return condition();
}

/// A socket as systemd passes it: it blocks.
inline Fd listening(const std::string& path) {
    Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const auto at = unix_address(path).value();
    if (::bind(socket.get(), std::bit_cast<const sockaddr*>(&at), sizeof(at)) != 0 ||
        ::listen(socket.get(), 64) != 0) {
        throw std::runtime_error("cannot listen");
    }
    return socket;
}

/// Sends any bytes, also invalid requests.
class Client {
public:
    static Client tcp(std::uint16_t port) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return connected(std::bit_cast<const sockaddr*>(&to), sizeof(to));
    }
    static Client local(const std::string& path) {
        const auto to = unix_address(path).value();
        return connected(std::bit_cast<const sockaddr*>(&to), sizeof(to));
    }

    /// False: the server closed the connection.
    bool send(std::string_view bytes) const {
        while (!bytes.empty()) {
            const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }

    /// Everything until the server closes.
    std::string read_all() const {
        std::string all;
        while (read_some(all)) {
        }
        return all;
    }

    /// Everything until `end` was received or the server closes.
    std::string read_to(std::string_view end) const {
        std::string all;
        while (all.find(end) == std::string::npos && read_some(all)) {
        }
        return all;
    }

    int fd() const { return socket_.get(); }

private:
    explicit Client(Fd socket) : socket_(std::move(socket)) {}

    static Client connected(const sockaddr* to, socklen_t size) {
        Fd socket{::socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        if (::connect(socket.get(), to, size) != 0) throw std::runtime_error("cannot connect");
        return Client(std::move(socket));
    }

    bool read_some(std::string& to) const {
        std::string part(65536, '\0');
        pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
        const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(kDeadline);
        if (::poll(&ready, 1, static_cast<int>(timeout.count())) == 0) {
            throw std::runtime_error("no answer in time");
        }
        const auto size = ::recv(socket_.get(), part.data(), part.size(), 0);
        if (size > 0) to.append(part, 0, static_cast<std::size_t>(size));
        return size > 0;
    }

    Fd socket_;
};

}  // namespace kubexm::http
