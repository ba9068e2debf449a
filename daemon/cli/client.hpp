#pragma once

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

    /// Passes every reply to `each` until that returns false. A refusal is an error.
    using Each = std::function<bool(const wire::Reply&)>;
    Result<> ask(const wire::Request& request, std::span<const int> descriptors, const Each& each);

private:
    explicit Client(wire::Channel channel) : channel_(std::move(channel)) {}
    Result<wire::Reply> next();
    wire::Channel channel_;
};

}  // namespace kubexm::cli
