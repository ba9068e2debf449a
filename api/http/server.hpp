#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/model/snapshot.hpp"

namespace kubexm::http {

/// Where the read-only API is served.
struct Listen {
    std::string address = "127.0.0.1";  // or "::1"
    std::uint16_t port = 10240;         // 0: any free port
    std::string socket = "/run/kubexm/kubexmd.sock";
    /// From one whole request to the next, however slowly bytes arrive.
    std::chrono::milliseconds idle_timeout = std::chrono::seconds(10);
};

/// The current status, not null. Called on a thread of the server.
using Source = std::function<std::shared_ptr<const model::Snapshot>()>;

/// Serves api/routes in its own threads, with all signals blocked. Without connections no thread
/// wakes up. Once per process, and to be stopped before main() returns: Drogon has global objects.
class Server {
public:
    /// Returns when the server accepts clients. invalid: an address that is not loopback, a second
    /// server. conflict: another process listens there.
    static Result<std::unique_ptr<Server>> start(const Listen& listen, Source source);

    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server();

    /// Refuses new connections, waits at most a second for pending answers, ends the threads and
    /// removes the socket file.
    void stop();

    std::uint16_t port() const;

    /// False: a request takes longer than any may. Any thread.
    bool alive() const;

private:
    class Impl;
    explicit Server(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace kubexm::http
