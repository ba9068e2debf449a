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

/// Whether nothing more comes in answer to a request.
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
      link_(loop, std::move(socket), std::move(program),
            {[this](const Result<>& answer) { this->on_change(answer); },
             [this](const wire::Reply& reply) { on_reply(reply); }}) {}

void ExecutorClient::ask(wire::Request request, std::vector<Fd> contents, Handler handler) {
    waiting_.push_back({std::move(request), std::move(contents), std::move(handler)});
    if (connected_ && waiting_.size() == 1) send_first();
}

void ExecutorClient::on_change(const Result<>& answer) {
    connected_ = answer.has_value();
    if (!answer) {
        auto cut_off = std::exchange(waiting_, {});
        for (Question& question : cut_off) question.handler(std::unexpected(answer.error()));
    }
    on_change_(answer);
    if (connected_ && !waiting_.empty()) send_first();
}

void ExecutorClient::send_first() {
    std::vector<int> descriptors;
    for (const Fd& content : waiting_.front().contents) descriptors.push_back(content.get());
    auto sent = link_.ask(waiting_.front().request, descriptors);
    if (!sent) end_first(std::unexpected(sent.error()));
}

/// Taken out first: the handler may ask the next question.
void ExecutorClient::end_first(const Result<wire::Reply>& last) {
    Question question = std::move(waiting_.front());
    waiting_.pop_front();
    const bool next_waits = !waiting_.empty();
    question.handler(last);
    if (connected_ && next_waits) send_first();
}

void ExecutorClient::on_reply(const wire::Reply& reply) {
    if (waiting_.empty()) return;
    if (const auto* refused = std::get_if<wire::Refused>(&reply)) {
        return end_first(std::unexpected(error_of(*refused)));
    }
    if (is_last(waiting_.front().request, reply)) return end_first(reply);
    waiting_.front().handler(reply);
}

}  // namespace kubexm::agent
