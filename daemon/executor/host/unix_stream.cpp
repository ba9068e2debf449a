#include "daemon/executor/host/unix_stream.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "daemon/base/try.hpp"
#include "daemon/base/unix_address.hpp"

namespace kubexm::executor {

namespace {

using std::chrono::milliseconds;

Result<milliseconds> time_left(StreamDeadline deadline) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - StreamDeadline::clock::now());
    if (left.count() <= 0) return fail(Code::timeout, "no answer before the deadline");
    return std::min(left, milliseconds(std::numeric_limits<int>::max()));
}

/// connect() blocks while the queue of the listener is full; only this option limits it.
Result<> limit_connect(const Fd& stream, StreamDeadline deadline) {
    const auto left = TRY(time_left(deadline));
    const timeval limit{.tv_sec = left.count() / 1000, .tv_usec = left.count() % 1000 * 1000};
    if (::setsockopt(stream.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0) return {};
    return from_errno("setsockopt", "SO_SNDTIMEO");
}

std::unexpected<Error> not_connected(const std::string& path, int number) {
    if (number == ENOENT || number == ECONNREFUSED) {
        return fail(Code::not_found, "no process listens at the socket");
    }
    if (number == EAGAIN) return fail(Code::timeout, "the server accepts no connections");
    return from_errno("connect", path, number);
}

}  // namespace

Result<Fd> connect_stream(const std::string& path, StreamDeadline deadline) {
    const sockaddr_un address = TRY(unix_address(path));
    Fd stream(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!stream) return from_errno("socket", path);
    TRY(limit_connect(stream, deadline));
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(stream.get(), generic, sizeof(address)) == 0) return stream;
    return not_connected(path, errno);
}

Result<> wait_for(const Fd& stream, short events, StreamDeadline deadline) {
    for (;;) {
        const auto left = TRY(time_left(deadline));
        pollfd waiting{.fd = stream.get(), .events = events, .revents = 0};
        const int ready = ::poll(&waiting, 1, static_cast<int>(left.count()));
        if (ready > 0) return {};
        if (ready < 0 && errno != EINTR) return from_errno("poll", "a stream");
    }
}

}  // namespace kubexm::executor
