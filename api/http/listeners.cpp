#include "api/http/listeners.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <bit>
#include <cerrno>
#include <cstring>

namespace kubexm::http {

namespace {

constexpr mode_t kSocketMode = 0660;
constexpr std::uint32_t kLoopbackNet = 127;

/// An address of any family, as the kernel's calls want it.
struct Address {
    sockaddr_storage bytes{};
    socklen_t size = 0;

    const sockaddr* get() const { return std::bit_cast<const sockaddr*>(&bytes); }
    template <typename T>
    void set(const T& from, socklen_t length = sizeof(T)) {
        std::memcpy(&bytes, &from, sizeof(from));
        size = length;
    }
};

Result<Address> loopback(const std::string& text, std::uint16_t port) {
    Address address;
    sockaddr_in v4{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {}, .sin_zero = {}};
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1 &&
        ntohl(v4.sin_addr.s_addr) >> 24U == kLoopbackNet) {
        address.set(v4);
    } else if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1 &&
               IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr)) {
        address.set(v6);
    } else {
        return fail(Code::invalid,
                    fmt::format("the API listens on loopback only, not on '{:.64}': set 127.0.0.1 "
                                "or ::1",
                                text));
    }
    return address;
}

Result<Address> unix_address(const std::string& path) {
    sockaddr_un to{.sun_family = AF_UNIX, .sun_path = {}};
    if (path.empty() || path.front() != '/' || path.size() >= sizeof(to.sun_path)) {
        return fail(Code::invalid,
                    fmt::format("the API's socket '{}' must be an absolute path of less than {} "
                                "bytes",
                                path, sizeof(to.sun_path)));
    }
    path.copy(to.sun_path, path.size());
    Address address;
    address.set(to);
    return address;
}

Fd open_socket(const Address& address) {
    return Fd{::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
}

/// Whether a process answers at the address, or could.
bool is_alive(const Address& address) {
    const Fd probe = open_socket(address);
    return probe && (::connect(probe.get(), address.get(), address.size) == 0 || errno == EAGAIN);
}

/// Makes room for a socket file, and never at the cost of anything but a dead one.
Result<> remove_dead_socket(const std::string& path, const Address& address) {
    struct stat found{};
    if (::lstat(path.c_str(), &found) != 0) {
        if (errno == ENOENT) return {};
        return from_errno("stat", path);
    }
    if (!S_ISSOCK(found.st_mode)) {
        return fail(Code::conflict, path + " is no socket: remove it or configure another path");
    }
    if (is_alive(address)) {
        return fail(Code::conflict,
                    path + " is served by another process: stop it or configure another path");
    }
    if (::unlink(path.c_str()) != 0) return from_errno("remove the dead socket", path);
    return {};
}

Result<> start_listening(const Fd& socket, const Address& address, const std::string& name) {
    constexpr int kBacklog = 64;
    if (!socket) return from_errno("socket", name);
    if (::bind(socket.get(), address.get(), address.size) != 0 ||
        ::listen(socket.get(), kBacklog) != 0) {
        if (errno != EADDRINUSE) return from_errno("listen", name);
        return fail(Code::conflict,
                    fmt::format("{} is in use by another process: `ss -lntp` names it; stop it or "
                                "configure another port",
                                name));
    }
    return {};
}

}  // namespace

Result<Fd> listen_tcp(const std::string& address, std::uint16_t port) {
    auto place = loopback(address, port);
    if (!place) return std::unexpected(place.error());
    Fd socket = open_socket(*place);
    // Else connections of the process before us would hold the port for a minute.
    constexpr int kYes = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &kYes, sizeof(kYes));
    auto listening = start_listening(socket, *place, fmt::format("{} port {}", address, port));
    if (!listening) return std::unexpected(listening.error());
    return socket;
}

std::uint16_t port_of(const Fd& socket) {
    sockaddr_in6 bound{};  // the port stands at the same place in both families
    socklen_t size = sizeof(bound);
    ::getsockname(socket.get(), std::bit_cast<sockaddr*>(&bound), &size);
    return ntohs(bound.sin6_port);
}

Result<Fd> listen_unix(const std::string& path) {
    auto place = unix_address(path);
    if (!place) return std::unexpected(place.error());
    if (auto free = remove_dead_socket(path, *place); !free) return std::unexpected(free.error());
    Fd socket = open_socket(*place);
    if (auto listening = start_listening(socket, *place, path); !listening) {
        return std::unexpected(listening.error());
    }
    if (::chmod(path.c_str(), kSocketMode) != 0) return from_errno("chmod", path);
    return socket;
}

}  // namespace kubexm::http
