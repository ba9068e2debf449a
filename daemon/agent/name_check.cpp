#include "daemon/agent/name_check.hpp"

#include <fmt/format.h>

#include <utility>

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

constexpr auto kLookupDeadline = 3s;

model::Finding late_lookup_of(const std::string& name) {
    return {model::CheckId::name_lookup, model::Severity::warning,
            fmt::format("no answer for {} in {} s", name, kLookupDeadline.count()),
            "a quick answer, also a negative one: kubelet waits for it before it registers",
            fmt::format("add {} to /etc/hosts, or correct /etc/resolv.conf", name)};
}

}  // namespace

NameCheck::NameCheck(AgentContext& context, std::string name, Done done)
    : context_(context), name_(std::move(name)), done_(std::move(done)) {}

void NameCheck::start() {
    auto lookup = context_.look_up(context_.loop, name_, [this] { end(false); });
    if (lookup) lookup_ = *std::move(lookup);
    // Without descriptors for a lookup nothing is known of it.
    const auto patience = lookup_ ? kLookupDeadline : 0s;
    auto timer = context_.loop.after(patience, [this] { end(lookup_ != nullptr); });
    if (timer) patience_ = *std::move(timer);
}

/// An answer may come too late, too.
void NameCheck::end(bool is_late) {
    const Done done = std::exchange(done_, {});
    if (done) done(is_late ? std::optional(late_lookup_of(name_)) : std::nullopt);
}

}  // namespace kubexm::agent
