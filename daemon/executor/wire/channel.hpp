#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/deadline.hpp"
#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"

namespace kubexm::wire {

/// One message on the wire.
struct Frame {
    std::string text;
    std::vector<Fd> descriptors;
};

/// The credentials of the peer, from the kernel.
struct Peer {
    uid_t uid = 0;
    gid_t gid = 0;
    pid_t pid = 0;
};

/// One end of a connected SOCK_SEQPACKET socket: the kernel preserves message boundaries.
class Channel {
public:
    explicit Channel(Fd socket) : socket_(std::move(socket)) {}
    /// not_found, unavailable: no process listens on the path.
    static Result<Channel> connect(const std::string& path);

    int fd() const { return socket_.get(); }
    Result<Peer> peer() const;

    /// Blocks while the peer's buffer is full. invalid: over the limits of messages.hpp.
    Result<> send(std::string_view text, std::span<const int> descriptors, Deadline deadline);
    /// unavailable: the peer closed the connection. invalid: an oversized frame or too many
    /// descriptors, which are closed.
    Result<Frame> receive(Deadline deadline);

private:
    Result<> wait_for(short events, Deadline deadline) const;
    Fd socket_;
};

}  // namespace kubexm::wire
