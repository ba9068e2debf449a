#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/model/command.hpp"
#include "daemon/model/snapshot.hpp"

namespace kubexm::http {

/// Where the API is served.
struct Listen {
    std::string address = "127.0.0.1";  // or "::1"
    std::uint16_t port = 10240;         // 0: any free port
    // Listening unix sockets that systemd has made; one that it has not made is empty.
    Fd socket;   // for reading
    Fd control;  // for operations, too
    /// From one whole request to the next, however slowly bytes arrive.
    std::chrono::milliseconds idle_timeout = std::chrono::seconds(10);
};

/// The current status, not null. Called on a thread of the server.
using Source = std::function<std::shared_ptr<const model::Snapshot>()>;

/// Gets the text for the person who asked, or why the command is refused; any thread.
using OnDecision = std::move_only_function<void(Result<std::string>)>;
/// Passes a command to the agent. Called on a thread of the server, and returns at once.
using RunCommand = std::function<void(const model::Command&, OnDecision)>;

/// Whether all listeners are open, or why one is not; after an error the server retries. Called at
/// the start and after every change, on any thread.
using ListeningState = std::function<void(const Result<>&)>;

struct Callbacks {
    Source source;
    RunCommand run_command;
    ListeningState on_listening;
};

/// Serves api/routes in its own threads, with all signals blocked. Without connections no thread
/// wakes up. Once per process, and to be stopped before main() returns: Drogon has global objects.
class Server {
public:
    /// Returns when the server accepts clients. A taken address and no address at all are no error:
    /// see ListeningState.
    /// invalid: an address that is not loopback, a second server.
    static Result<std::unique_ptr<Server>> start(Listen listen, Callbacks callbacks);

    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server();

    /// Answers the clients that it has accepted, for at most a second, and ends the threads. Later
    /// clients of a unix socket wait there for the next process.
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
