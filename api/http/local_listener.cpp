#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "api/http/listener.hpp"
#include "api/http/socket_address.hpp"
#include "daemon/base/try.hpp"
#include "daemon/base/unix_address.hpp"

namespace kubexm::http {

namespace {

constexpr mode_t kSocketMode = 0660;

/// Whether a process listens at the address. Other errors than a refusal leave that open: a full
/// backlog, a socket that is not for us.
bool is_alive(const SocketAddress& address) {
    const Fd probe = stream_socket(address);
    return ::connect(probe.get(), address.get(), address.size) == 0 || errno != ECONNREFUSED;
}

Result<> remove_dead_socket(const std::string& path) {
    const sockaddr_un address = TRY(unix_address(path));
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
    if (is_alive(SocketAddress::of(address))) {
        return fail(Code::conflict,
                    path + ": in use by another process; stop it or configure another path");
    }
    if (::unlink(path.c_str()) != 0) return from_errno("remove", path);
    return {};
}

}  // namespace

Result<Listener> Listener::local(const std::string& path) {
    const std::string unpublished = path + ".new";
    const sockaddr_un address = TRY(unix_address(unpublished));
    TRY(remove_dead_socket(unpublished));
    Fd socket = stream_socket(SocketAddress::of(address));
    TRY(listen_at(socket, SocketAddress::of(address), unpublished));
    if (::chmod(unpublished.c_str(), kSocketMode) != 0) return from_errno("chmod", unpublished);
    const auto publish = [path](Listener& self) -> Result<> {
        TRY(remove_dead_socket(path));
        if (::rename(self.file_.c_str(), path.c_str()) != 0) return from_errno("rename", path);
        self.file_ = path;
        return {};
    };
    return Listener(std::move(socket), api::Door::socket, unpublished, publish);
}

}  // namespace kubexm::http
