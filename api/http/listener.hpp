#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "api/routes/routes.hpp"
#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::http {

/// A listening socket of the API. Drogon exits the process when it cannot bind, has no unix
/// sockets, and cannot add a listener later. So the socket is made here and listens from the
/// beginning, at any free port or another name; open() moves it to its address when that is free.
class Listener {
public:
    /// On a loopback address. Port 0: any free port. invalid: another address.
    static Result<Listener> tcp(const std::string& address, std::uint16_t port);
    /// At a path, for its owner and group; a setgid directory sets the group. An error: no socket
    /// can be made in the directory.
    static Result<Listener> local(const std::string& path);
    /// A socket that systemd has made, which is at its address.
    static Listener passed(Fd socket, api::Door door);

    /// Moves the socket to its address, if it is not there yet. conflict: the address is taken.
    Result<> open();
    /// Closes the socket and removes its file.
    void close();

    const Fd& socket() const { return socket_; }
    api::Door door() const { return door_; }

private:
    using Move = std::function<Result<>(Listener&)>;
    Listener(Fd socket, api::Door door, std::string file, Move move)
        : socket_(std::move(socket)), door_(door), file_(std::move(file)), move_(std::move(move)) {}

    Fd socket_;
    api::Door door_;
    std::string file_;  // of a unix socket that we made
    Move move_;         // empty: the socket is at its address
};

std::uint16_t port_of(const Fd& socket);

}  // namespace kubexm::http
