#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/model/snapshot.hpp"

namespace kubexm::http {

/// Where the API is served: for reading only, on loopback and on a unix socket.
struct Listen {
    std::string address = "127.0.0.1";  // or "::1"
    std::uint16_t port = 10240;         // 0: any that is free
    std::string socket = "/run/kubexm/kubexmd.sock";
};

/// What is true now; never null. Called on a thread of the server's.
using Source = std::function<std::shared_ptr<const model::Snapshot>()>;

/// Serves api/routes until it is stopped, in threads of its own with all signals blocked. Nothing
/// wakes up while nobody is connected. Once a process, and to be stopped before main() returns: the
/// HTTP library lives in global objects.
class Server {
public:
    /// Returns when clients are answered. invalid: an address that is not loopback, a second
    /// server. conflict: somebody else listens there. A socket file that a dead process left is
    /// replaced.
    static Result<std::unique_ptr<Server>> start(const Listen& listen, Source source);

    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server();

    /// Takes no new connection, lets answers that are under way arrive for at most a second, and
    /// returns when all threads have ended and the socket file is gone.
    void stop();

    std::uint16_t port() const;

    /// False: an answer takes longer than any may. Any thread.
    bool alive() const;

private:
    class Impl;
    explicit Server(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace kubexm::http
