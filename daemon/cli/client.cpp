#include "daemon/cli/client.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "daemon/base/try.hpp"
#include "daemon/base/version.hpp"

namespace kubexm::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kAnswerDeadline = 6min;  // the longest step takes five

Deadline reply_deadline() { return std::chrono::steady_clock::now() + kAnswerDeadline; }

std::unexpected<Error> explain(const std::string& socket, const Error& error) {
    if (error.code == Code::denied) {
        return fail(Code::denied,
                    fmt::format("{}: expected root, found user {}; run kubexmctl as root", socket,
                                ::geteuid()));
    }
    return fail(Code::unavailable,
                "connecting to the executor (check systemctl status kubexm-executor.socket): " +
                    error.what);
}

}  // namespace

Result<Client> Client::connect(const std::string& socket) {
    auto channel = wire::Channel::connect(socket);
    if (!channel) return explain(socket, channel.error());
    const wire::Peer peer = TRY(channel->peer());
    if (peer.uid != 0) {
        return fail(
            Code::denied,
            fmt::format("{}: expected a process of root, found one of user {}", socket, peer.uid));
    }
    Client client(*std::move(channel));
    const wire::Hello hello{wire::kProtocol, fmt::format("kubexmctl {}", kVersion)};
    TRY(client.ask(hello, {}, [](const wire::Reply&) {}));
    return client;
}

Result<wire::NumberedReply> Client::next() {
    const wire::Frame frame = TRY(channel_.receive(reply_deadline()));
    auto reply = TRY(wire::unpack_reply(frame.text));
    if (const auto* refused = std::get_if<wire::Refused>(&reply.reply)) {
        return fail(from_name<Code>(refused->code).value_or(Code::internal), refused->what);
    }
    return reply;
}

/// One request at a time, so every reply belongs to it.
Result<> Client::ask(const wire::Request& request, std::span<const int> descriptors,
                     const Each& each) {
    TRY(channel_.send(pack(++last_id_, request), descriptors, reply_deadline()));
    for (;;) {
        const wire::NumberedReply reply = TRY(next());
        each(reply.reply);
        if (reply.part == wire::Part::last) return {};
    }
}

}  // namespace kubexm::cli
