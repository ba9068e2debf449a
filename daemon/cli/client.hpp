#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/executor/wire/channel.hpp"
#include "daemon/executor/wire/messages.hpp"

namespace kubexm::cli {

/// A connection to the executor. Every reply has a deadline.
class Client {
public:
    /// Connects and exchanges Hellos. denied: not permitted, or the peer is not root. invalid:
    /// another protocol.
    static Result<Client> connect(const std::string& socket);

    /// Passes every reply to `each`, to the last one. A refusal is an error.
    using Each = std::function<void(const wire::Reply&)>;
    Result<> ask(const wire::Request& request, std::span<const int> descriptors, const Each& each);

private:
    explicit Client(wire::Channel channel) : channel_(std::move(channel)) {}
    Result<wire::NumberedReply> next();
    wire::Channel channel_;
    std::uint32_t last_id_ = 0;
};

}  // namespace kubexm::cli
