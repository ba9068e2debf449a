#include "daemon/cli/client.hpp"

#include <fmt/format.h>

#include <array>

#include "daemon/base/version.hpp"

namespace kubexm::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kAnswerDeadline = 6min;  // a step may take five

wire::Channel::Deadline later() { return std::chrono::steady_clock::now() + kAnswerDeadline; }

}  // namespace

Result<Client> Client::connect(const std::string& socket) {
    auto channel = wire::Channel::connect(socket);
    if (!channel) {
        return during("the executor does not answer (is kubexm-executor.socket active?)",
                      channel.error());
    }
    auto peer = channel->peer();
    if (!peer) return std::unexpected(peer.error());
    if (peer->uid != 0) {
        return fail(Code::denied,
                    fmt::format("{} belongs to a process of user {}, not to the executor of root",
                                socket, peer->uid));
    }
    Client client(*std::move(channel));
    const wire::Hello hello{wire::kProtocol, fmt::format("kubexmctl {}", kVersion)};
    auto greeted = client.ask(hello, {}, [](const wire::Reply&) { return false; });
    if (!greeted) return std::unexpected(greeted.error());
    return client;
}

Result<wire::Reply> Client::next() {
    auto frame = channel_.receive(later());
    if (!frame) return std::unexpected(frame.error());
    auto reply = wire::unpack_reply(frame->text);
    if (!reply) return reply;
    if (const auto* refused = std::get_if<wire::Refused>(&*reply)) {
        return fail(from_name<Code>(refused->code).value_or(Code::internal), refused->what);
    }
    return reply;
}

Result<> Client::ask(const wire::Request& request, std::span<const int> descriptors,
                     const Each& each) {
    if (auto sent = channel_.send(pack(request), descriptors, later()); !sent) return sent;
    for (;;) {
        auto reply = next();
        if (!reply) return std::unexpected(reply.error());
        if (!each(*reply)) return {};
    }
}

}  // namespace kubexm::cli
