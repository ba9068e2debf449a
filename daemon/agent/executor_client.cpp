#include "daemon/agent/executor_client.hpp"

#include <utility>

namespace kubexm::agent {

namespace {

Error error_of(const wire::Refused& refused) {
    return {from_name<Code>(refused.code).value_or(Code::internal), refused.what};
}

}  // namespace

ExecutorClient::ExecutorClient(Loop& loop, std::string socket, std::string program,
                               std::function<void(const Result<>&)> on_change)
    : on_change_(std::move(on_change)),
      connection_(loop, std::move(socket), std::move(program),
                  {[this](const Result<>& connected) { this->on_change(connected); },
                   [this](const wire::NumberedReply& reply) { on_reply(reply); }}) {}

void ExecutorClient::ask(wire::Request request, std::vector<Fd> contents, Handler handler) {
    Waiting asked{std::move(request), std::move(contents), std::move(handler)};
    if (connected_) return send(std::move(asked));
    waiting_.push_back(std::move(asked));
}

/// The requests are taken out first: handlers may ask again. A handler that gets the error of a
/// lost connection must find the connection lost.
void ExecutorClient::on_change(const Result<>& connected) {
    connected_ = connected.has_value();
    auto waiting = std::exchange(waiting_, {});
    auto open = std::exchange(open_, {});
    on_change_(connected);
    if (connected) {
        for (Waiting& each : waiting) send(std::move(each));
        return;
    }
    const Error lost{Code::unavailable, connected.error().what};
    for (auto& [id, handler] : open) handler(std::unexpected(lost));
    for (Waiting& each : waiting) each.handler(std::unexpected(lost));
}

/// 0 is of the connection, 1 of its Hello; and after four billion the numbers begin again.
std::uint32_t ExecutorClient::new_id() {
    do {
        ++last_id_;
    } while (last_id_ <= ExecutorConnection::kHelloId || open_.contains(last_id_));
    return last_id_;
}

void ExecutorClient::send(Waiting request) {
    const std::uint32_t id = new_id();
    auto sent = connection_.send(id, request.request, std::move(request.contents));
    if (!sent) return request.handler(std::unexpected(sent.error()));
    open_[id] = std::move(request.handler);
}

/// The last reply takes the handler out first: it may send another request, or destroy its owner.
void ExecutorClient::on_reply(const wire::NumberedReply& reply) {
    const auto found = open_.find(reply.id);
    if (found == open_.end()) return;
    const auto* refused = std::get_if<wire::Refused>(&reply.reply);
    if (refused == nullptr && reply.part == wire::Part::more) return found->second(reply.reply);
    Handler handler = std::move(found->second);
    open_.erase(found);
    if (refused != nullptr) return handler(std::unexpected(error_of(*refused)));
    handler(reply.reply);
}

}  // namespace kubexm::agent
