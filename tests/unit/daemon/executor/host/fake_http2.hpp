#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "daemon/base/fd.hpp"
#include "tests/unit/temp_directory.hpp"

// Servers for the tests of gRPC: one that sends any bytes, and one that implements HTTP/2.

namespace kubexm::executor {

/// Runs a script with the first connection to a unix socket, in a thread.
class FakeServer {
public:
    using Script = std::function<void(const Fd& stream)>;

    explicit FakeServer(Script script);
    FakeServer(const FakeServer&) = delete;
    FakeServer& operator=(const FakeServer&) = delete;
    ~FakeServer();

    std::string path() const { return directory_ / "socket"; }

private:
    TempDirectory directory_;
    Fd listener_;
    std::jthread thread_;
};

/// Sends these bytes and then waits for the client to close.
FakeServer::Script says(const std::string& bytes);
/// Sends these bytes and closes.
FakeServer::Script says_and_leaves(const std::string& bytes);
/// Sends `beginning` once and `more` until the client closes.
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
/// In network order.
std::string number(std::uint32_t value);
/// An uncompressed header; name and value are shorter than 127 bytes.
std::string header(const std::string& name, const std::string& value);

/// Reads a whole request and sends the body of the response within the client's windows.
struct HttpRequest {
    std::map<std::string, std::string> headers;
    std::string body;
};
FakeServer::Script answers(std::function<std::string(const HttpRequest&)> with);

}  // namespace kubexm::executor
