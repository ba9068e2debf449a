#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "api/routes/routes.hpp"
#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::http {

/// A listening socket of the API. systemd makes the unix sockets. Drogon exits the process when it
/// cannot bind a port, and cannot add a listener later. So that socket is made here and listens
/// from the beginning, at any free port; open() moves it to its address when that is free.
class Listener {
public:
    /// On a loopback address. Port 0: any free port. invalid: another address.
    static Result<Listener> tcp(const std::string& address, std::uint16_t port);
    /// A socket that systemd has made, which is at its address and stays there after this process.
    static Listener passed(Fd socket, api::ListenerKind kind);

    /// Moves the socket to its address, if it is not there yet. conflict: the address is taken.
    Result<> open();
    void close() { socket_.reset(); }

    const Fd& socket() const { return socket_; }
    api::ListenerKind kind() const { return kind_; }

private:
    using Move = std::function<Result<>(Listener&)>;
    Listener(Fd socket, api::ListenerKind kind, Move move)
        : socket_(std::move(socket)), kind_(kind), move_(std::move(move)) {}

    Fd socket_;
    api::ListenerKind kind_;
    Move move_;  // empty: the socket is at its address
};

std::uint16_t port_of(const Fd& socket);

}  // namespace kubexm::http
