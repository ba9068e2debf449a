#include "api/http/listeners.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "daemon/base/try.hpp"
#include "daemon/base/unix_address.hpp"

namespace kubexm::http {

namespace {

constexpr mode_t kSocketMode = 0660;
constexpr std::uint32_t kLoopbackNet = 127;

struct Address {
    sockaddr_storage bytes{};
    socklen_t size = 0;

    const sockaddr* get() const { return std::bit_cast<const sockaddr*>(&bytes); }
    template <typename T>
    static Address of(const T& from) {
        Address address{.bytes = {}, .size = sizeof(from)};
        std::memcpy(&address.bytes, &from, sizeof(from));
        return address;
    }
};

Result<Address> loopback(const std::string& text, std::uint16_t port) {
    sockaddr_in v4{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {}, .sin_zero = {}};
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1 &&
        ntohl(v4.sin_addr.s_addr) >> 24U == kLoopbackNet) {
        return Address::of(v4);
    }
    if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1 &&
        IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr)) {
        return Address::of(v6);
    }
    return fail(Code::invalid, fmt::format("address of the API: expected 127.0.0.1 or ::1, found "
                                           "\"{:.64}\"",
                                           text));
}

Fd open_socket(const Address& address) {
    return Fd{::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
}

/// Whether a process listens at the address; EAGAIN: its backlog is full.
bool is_alive(const Address& address) {
    const Fd probe = open_socket(address);
    return probe && (::connect(probe.get(), address.get(), address.size) == 0 || errno == EAGAIN);
}

Result<> remove_dead_socket(const std::string& path, const Address& address) {
    struct stat found{};
    if (::lstat(path.c_str(), &found) != 0) {
        if (errno == ENOENT) return {};
        return from_errno("stat", path);
    }
    if (!S_ISSOCK(found.st_mode)) {
        return fail(
            Code::conflict,
            path + ": expected a socket, found another file; remove it or configure another path");
    }
    if (is_alive(address)) {
        return fail(Code::conflict,
                    path + ": in use by another process; stop it or configure another path");
    }
    if (::unlink(path.c_str()) != 0) return from_errno("remove", path);
    return {};
}

Result<> start_listening(const Fd& socket, const Address& address, const std::string& name) {
    constexpr int kBacklog = 64;
    if (!socket) return from_errno("socket", name);
    if (::bind(socket.get(), address.get(), address.size) != 0 ||
        ::listen(socket.get(), kBacklog) != 0) {
        if (errno != EADDRINUSE) return from_errno("listen", name);
        return fail(Code::conflict,
                    fmt::format("{}: in use by another process, which ss -lntp shows; stop it or "
                                "configure another port",
                                name));
    }
    return {};
}

}  // namespace

Result<Fd> listen_tcp(const std::string& address, std::uint16_t port) {
    const Address place = TRY(loopback(address, port));
    Fd socket = open_socket(place);
    // Connections of an earlier process would block the port for a minute.
    constexpr int kYes = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &kYes, sizeof(kYes));
    TRY(start_listening(socket, place, fmt::format("{} port {}", address, port)));
    return socket;
}

std::uint16_t port_of(const Fd& socket) {
    sockaddr_in6 bound{};  // both families have the port at the same offset
    socklen_t size = sizeof(bound);
    ::getsockname(socket.get(), std::bit_cast<sockaddr*>(&bound), &size);
    return ntohs(bound.sin6_port);
}

Result<Fd> listen_unix(const std::string& path) {
    const sockaddr_un at_path = TRY(unix_address(path));
    const Address place = Address::of(at_path);
    TRY(remove_dead_socket(path, place));
    Fd socket = open_socket(place);
    TRY(start_listening(socket, place, path));
    if (::chmod(path.c_str(), kSocketMode) != 0) return from_errno("chmod", path);
    return socket;
}

}  // namespace kubexm::http
