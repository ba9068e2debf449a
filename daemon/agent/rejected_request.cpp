#include "daemon/agent/rejected_request.hpp"

#include <fmt/format.h>

#include "daemon/agent/conditions.hpp"

namespace kubexm::agent {

std::optional<Error> rejection_of(const AgentContext& context, const std::string& key_file) {
    const auto& rejections = context.state.read().rejections;
    const auto found = rejections.find(key_file);
    if (found == rejections.end()) return std::nullopt;
    const RejectedRequest& rejected = found->second;
    const auto now = context.state.now();
    // Where the clock was set back nobody knows how much time has passed.
    if (now < rejected.since || now >= rejected.not_before) return std::nullopt;
    return Error{rejected.error.code,
                 fmt::format("{}; the next request follows at {}", rejected.error.what,
                             rfc3339(rejected.not_before))};
}

Error reject(AgentContext& context, const std::string& key_file, const Error& why) {
    std::ignore = context.store.remove(key_file);
    const auto now = context.state.now();
    context.state.change([&](AgentState& state) {
        RejectedRequest& rejected = state.rejections[key_file];
        rejected.error = why;
        rejected.since = now;
        rejected.not_before =
            now + std::chrono::floor<std::chrono::seconds>(rejected.backoff.next(context.random()));
    });
    return rejection_of(context, key_file).value_or(why);
}

void forget_rejection(AgentContext& context, const std::string& key_file) {
    if (!context.state.read().rejections.contains(key_file)) return;
    context.state.change([&](AgentState& state) { state.rejections.erase(key_file); });
}

}  // namespace kubexm::agent
