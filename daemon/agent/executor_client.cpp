#include "daemon/agent/executor_client.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "daemon/base/overloaded.hpp"

namespace kubexm::agent {

namespace {

Error error_of(const wire::Refused& refused) {
    return {from_name<Code>(refused.code).value_or(Code::internal), refused.what};
}

/// Whether a reply is the last one to a request.
bool is_last(const wire::Request& request, const wire::Reply& reply) {
    using namespace wire;
    return std::visit(
        overloaded{
            [&](const Observe&) { return std::holds_alternative<Observation>(reply); },
            [&](const Follow&) { return std::holds_alternative<PlanSummary>(reply); },
            [&](const Journal&) { return std::holds_alternative<JournalState>(reply); },
            [&](const Preview&) { return std::holds_alternative<End>(reply); },
            [&](const History&) { return std::holds_alternative<End>(reply); },
            [](const auto&) { return true; },
        },
        request);
}

}  // namespace

ExecutorClient::ExecutorClient(Loop& loop, std::string socket, std::string program,
                               std::function<void(const Result<>&)> on_change)
    : on_change_(std::move(on_change)),
      connection_(loop, std::move(socket), std::move(program),
                  {[this](const Result<>& connected) { this->on_change(connected); },
                   [this](const wire::Reply& reply) { on_reply(reply); }}) {}

void ExecutorClient::ask(wire::Request request, std::vector<Fd> contents, Handler handler) {
    pending_.push_back({std::move(request), std::move(contents), std::move(handler)});
    if (connected_ && pending_.size() == 1) send_first();
}

void ExecutorClient::on_change(const Result<>& connected) {
    connected_ = connected.has_value();
    if (!connected) {
        auto lost = std::exchange(pending_, {});
        for (Pending& each : lost) each.handler(std::unexpected(connected.error()));
    }
    on_change_(connected);
    if (connected_ && !pending_.empty()) send_first();
}

void ExecutorClient::send_first() {
    std::vector<int> descriptors;
    for (const Fd& content : pending_.front().contents) descriptors.push_back(content.get());
    auto sent = connection_.send(pending_.front().request, descriptors);
    if (!sent) end_first(std::unexpected(sent.error()));
}

/// Taken out first: the handler may ask again.
void ExecutorClient::end_first(const Result<wire::Reply>& last) {
    Pending first = std::move(pending_.front());
    pending_.pop_front();
    const bool more = !pending_.empty();
    first.handler(last);
    if (connected_ && more) send_first();
}

void ExecutorClient::on_reply(const wire::Reply& reply) {
    if (pending_.empty()) return;
    if (const auto* refused = std::get_if<wire::Refused>(&reply)) {
        return end_first(std::unexpected(error_of(*refused)));
    }
    if (is_last(pending_.front().request, reply)) return end_first(reply);
    pending_.front().handler(reply);
}

}  // namespace kubexm::agent
