#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "daemon/base/fd.hpp"
#include "scratch.hpp"

// Servers for the tests of gRPC: one that says any bytes, and an honest one of HTTP/2.

namespace kubexm::executor {

/// Plays a script with the first connection to a unix socket, in a thread of its own.
class FakeServer {
public:
    using Script = std::function<void(const Fd& stream)>;

    explicit FakeServer(Script script);
    FakeServer(const FakeServer&) = delete;
    FakeServer& operator=(const FakeServer&) = delete;
    ~FakeServer();

    std::string path() const { return scratch_.top() / "socket"; }

private:
    Scratch scratch_;
    Fd listener_;
    std::jthread thread_;
};

Fd listen_at(const std::string& path);

/// These bytes, and then silence for as long as the client waits.
FakeServer::Script says(const std::string& bytes);
/// These bytes, and then the end.
FakeServer::Script says_and_leaves(const std::string& bytes);
/// A beginning, and then the same again until the client has enough.
FakeServer::Script repeats(const std::string& beginning, const std::string& more);

/// Frames of HTTP/2. The first request of a client is stream 1.
enum class Frame : std::uint8_t {
    data = 0,
    headers = 1,
    reset = 3,
    settings = 4,
    push = 5,
    ping = 6,
    goaway = 7,
    continuation = 9
};
constexpr std::uint8_t kEndStream = 1;
constexpr std::uint8_t kEndHeaders = 4;

std::string frame(Frame type, unsigned flags, std::uint32_t stream, const std::string& payload);
/// As payloads have it.
std::string number(std::uint32_t value);
/// A header that is not compressed; name and value are shorter than 127 bytes.
std::string header(const std::string& name, const std::string& value);

/// A request as it came, and the body it is answered with: whole, in the windows of the client.
struct HonestRequest {
    std::map<std::string, std::string> headers;
    std::string body;
};
FakeServer::Script answers(std::function<std::string(const HonestRequest&)> with);

}  // namespace kubexm::executor
