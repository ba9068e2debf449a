#include "daemon/agent/registration.hpp"

#include <nlohmann/json.hpp>

#include "daemon/kube/byohost.hpp"

namespace kubexm::agent {

using namespace std::chrono_literals;

Registration::Registration(AgentContext& context, kube::Api& api, Listener listener)
    : context_(context), api_(api), listener_(std::move(listener)), backoff_(1s, 2min) {}

void Registration::start() {
    facts_ = context_.facts();
    call_ =
        api_.get(kube::host_path(context_.namespace_, facts_.name), [this](const Answer& answer) {
            const bool absent = !answer && answer.error().error.code == Code::not_found;
            // A 404 without a reason means that the server does not know the kind ByoHost.
            if (absent && answer.error().reason == "NotFound") return create();
            if (answer) listener_.on_found(*answer);
            proceed(answer, &Registration::update);
        });
}

void Registration::restart() {
    auto timer = context_.loop.after(backoff_.next({}, context_.random()), [this] { start(); });
    if (timer) retry_ = *std::move(timer);
}

void Registration::create() {
    listener_.on_creating();
    call_ = api_.post(kube::hosts_path(context_.namespace_), kube::new_host(facts_),
                      [this](const Answer& answer) {
                          if (answer) listener_.on_created(*answer);
                          proceed(answer, &Registration::report_facts);
                      });
}

void Registration::update() {
    call_ = api_.merge_patch(
        kube::host_path(context_.namespace_, facts_.name), kube::capacity_patch(facts_),
        [this](const Answer& answer) { proceed(answer, &Registration::report_facts); });
}

void Registration::report_facts() {
    call_ = api_.merge_patch(
        kube::host_status_path(context_.namespace_, facts_.name), kube::facts_patch(facts_),
        [this](const Answer& answer) { proceed(answer, &Registration::finish); });
}

void Registration::proceed(const Answer& answer, void (Registration::*next)()) {
    if (answer) return (this->*next)();
    listener_.on_failure(answer.error());
    auto timer =
        context_.loop.after(backoff_.next(answer.error(), context_.random()), [this] { start(); });
    if (timer) retry_ = *std::move(timer);
}

}  // namespace kubexm::agent
