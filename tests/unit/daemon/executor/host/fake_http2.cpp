#include "fake_http2.hpp"

#include <sys/socket.h>

#include <array>

#include "scratch.hpp"

namespace kubexm::executor {

namespace {

/// False: the client closed.
bool write_all(const Fd& stream, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(stream.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

void read_to_the_end(const Fd& stream) {
    std::array<char, 4096> piece{};
    while (::recv(stream.get(), piece.data(), piece.size(), 0) > 0) {
    }
}

}  // namespace

FakeServer::FakeServer(Script script)
    : listener_(listen_at(path())), thread_([this, play = std::move(script)] {
          const Fd stream(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
          if (stream) play(stream);
      }) {}

FakeServer::~FakeServer() { ::shutdown(listener_.get(), SHUT_RDWR); }  // ends accept4()

FakeServer::Script says(const std::string& bytes) {
    return [bytes](const Fd& stream) {
        write_all(stream, bytes);
        read_to_the_end(stream);
    };
}

FakeServer::Script says_and_leaves(const std::string& bytes) {
    return [bytes](const Fd& stream) { write_all(stream, bytes); };
}

FakeServer::Script repeats(const std::string& beginning, const std::string& more) {
    return [beginning, more](const Fd& stream) {
        bool open = write_all(stream, beginning);
        while (open) open = write_all(stream, more);
    };
}

std::string number(std::uint32_t value) {
    std::string bytes;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
        bytes += static_cast<char>((value >> shift) & 0xffU);
    }
    return bytes;
}

std::string frame(Frame type, unsigned flags, std::uint32_t stream, const std::string& payload) {
    const std::string length = number(static_cast<std::uint32_t>(payload.size())).substr(1);
    return length + static_cast<char>(type) + static_cast<char>(flags) + number(stream) + payload;
}

std::string header(const std::string& name, const std::string& value) {
    const auto text = [](const std::string& of) { return static_cast<char>(of.size()) + of; };
    return '\0' + text(name) + text(value);
}

}  // namespace kubexm::executor
