#include "daemon/cli/client.hpp"

#include <fmt/format.h>

#include "daemon/base/try.hpp"
#include "daemon/base/version.hpp"

namespace kubexm::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kAnswerDeadline = 6min;  // the longest step takes five

wire::Channel::Deadline reply_deadline() {
    return std::chrono::steady_clock::now() + kAnswerDeadline;
}

}  // namespace

Result<Client> Client::connect(const std::string& socket) {
    auto channel = wire::Channel::connect(socket);
    if (!channel) {
        return during("connecting to the executor (check systemctl status kubexm-executor.socket)",
                      channel.error());
    }
    const wire::Peer peer = TRY(channel->peer());
    if (peer.uid != 0) {
        return fail(
            Code::denied,
            fmt::format("{}: expected a process of root, found one of user {}", socket, peer.uid));
    }
    Client client(*std::move(channel));
    const wire::Hello hello{wire::kProtocol, fmt::format("kubexmctl {}", kVersion)};
    TRY(client.ask(hello, {}, [](const wire::Reply&) { return false; }));
    return client;
}

Result<wire::Reply> Client::next() {
    const wire::Frame frame = TRY(channel_.receive(reply_deadline()));
    wire::Reply reply = TRY(wire::unpack_reply(frame.text));
    if (const auto* refused = std::get_if<wire::Refused>(&reply)) {
        return fail(from_name<Code>(refused->code).value_or(Code::internal), refused->what);
    }
    return reply;
}

Result<> Client::ask(const wire::Request& request, std::span<const int> descriptors,
                     const Each& each) {
    TRY(channel_.send(pack(request), descriptors, reply_deadline()));
    for (;;) {
        const wire::Reply reply = TRY(next());
        if (!each(reply)) return {};
    }
}

}  // namespace kubexm::cli
