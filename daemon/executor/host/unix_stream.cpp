#include "daemon/executor/host/unix_stream.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace kubexm::executor {

namespace {

using std::chrono::milliseconds;

Result<milliseconds> time_left(StreamDeadline deadline) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - StreamDeadline::clock::now());
    if (left.count() <= 0) return fail(Code::timeout, "no answer in time");
    return std::min(left, milliseconds(std::numeric_limits<int>::max()));
}

/// Connecting blocks while the queue of the listener is full, and only this option ends it.
Result<> limit_connecting(const Fd& stream, StreamDeadline deadline) {
    auto left = time_left(deadline);
    if (!left) return std::unexpected(left.error());
    const timeval limit{.tv_sec = left->count() / 1000, .tv_usec = left->count() % 1000 * 1000};
    if (::setsockopt(stream.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0) return {};
    return from_errno("setsockopt", "SO_SNDTIMEO");
}

std::unexpected<Error> not_connected(const std::string& path, int number) {
    if (number == ENOENT || number == ECONNREFUSED) {
        return fail(Code::not_found, "nobody listens there");
    }
    if (number == EAGAIN) return fail(Code::timeout, "it takes no more connections");
    return from_errno("connect", path, number);
}

}  // namespace

Result<Fd> connect_stream(const std::string& path, StreamDeadline deadline) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) {
        return fail(Code::invalid, "the path is longer than one of a socket can be");
    }
    path.copy(address.sun_path, path.size());
    Fd stream(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!stream) return from_errno("socket", path);
    if (auto limited = limit_connecting(stream, deadline); !limited) {
        return std::unexpected(limited.error());
    }
    const auto* place = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(stream.get(), place, sizeof(address)) == 0) return stream;
    return not_connected(path, errno);
}

Result<> wait_for(const Fd& stream, short events, StreamDeadline deadline) {
    for (;;) {
        auto left = time_left(deadline);
        if (!left) return std::unexpected(left.error());
        pollfd waiting{.fd = stream.get(), .events = events, .revents = 0};
        const int ready = ::poll(&waiting, 1, static_cast<int>(left->count()));
        if (ready > 0) return {};
        if (ready < 0 && errno != EINTR) return from_errno("poll", "a stream");
    }
}

}  // namespace kubexm::executor
