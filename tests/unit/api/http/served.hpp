#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "api/http/server.hpp"
#include "tests/unit/api/example.hpp"
#include "tests/unit/api/http/client.hpp"
#include "tests/unit/api/http/commands.hpp"
#include "tests/unit/api/http/threads.hpp"
#include "tests/unit/temp_directory.hpp"

namespace kubexm::http {

constexpr std::chrono::seconds kIdleTimeout(2);

/// The only server of this process, on a free port and a socket of its own.
class Served : public testing::Test {
public:
    struct Place {
        TempDirectory directory;
        std::unique_ptr<Server> server;

        TestAgent agent;

        std::string socket() const { return directory / "api.sock"; }
        std::string control() const { return directory / "control.sock"; }
    };

    static Place& place() {
        if (place_.server) return place_;
        threads_of_server();  // before the server starts any
        auto started = Server::start({.port = 0,
                                      .socket = listening(place_.socket()),
                                      .control = listening(place_.control()),
                                      .idle_timeout = kIdleTimeout},
                                     callbacks([](const Result<>&) {}));
        if (!started) throw std::runtime_error(started.error().what);
        place_.server = *std::move(started);
        return place_;
    }

    static Callbacks callbacks(ListeningState on_listening) {
        return {
            .source = [] { return std::make_shared<const model::Snapshot>(api::joining_host()); },
            .run_command =
                [](const model::Command& command, OnDecision decide) {
                    place_.agent.submit(command, std::move(decide));
                },
            .on_listening = std::move(on_listening)};
    }

    static Client tcp() { return Client::tcp(place().server->port()); }
    static Client local() { return Client::local(place().socket()); }
    static Client control() { return Client::local(place().control()); }

    /// The answer to one request.
    static std::string ask(const Client& client, const std::string& request,
                           const std::string& headers = "Host: localhost\r\n") {
        client.send(request + " HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n");
        return client.read_all();
    }
    static std::string post(const Client& client, const std::string& body) {
        client.send(
            "POST /v1/operations HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            "Content-Length: " +
            std::to_string(body.size()) + "\r\n\r\n" + body);
        return client.read_all();
    }
    static std::string get(const std::string& path) { return ask(tcp(), "GET " + path); }

    inline static Place place_;
};

/// Stops the server before Drogon's globals are destroyed.
class StopAtEnd : public testing::Environment {
public:
    void TearDown() override {
        if (Served::place_.server) Served::place_.server->stop();
    }
};
inline const auto* const kStopAtEnd = testing::AddGlobalTestEnvironment(new StopAtEnd);

inline std::string body_of(const std::string& answer) {
    const auto end = answer.find("\r\n\r\n");
    return end == std::string::npos ? "" : answer.substr(end + 4);
}

}  // namespace kubexm::http
