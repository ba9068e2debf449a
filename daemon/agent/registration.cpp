#include "daemon/agent/registration.hpp"

#include <nlohmann/json.hpp>

#include "daemon/agent/facts.hpp"
#include "daemon/kube/byohost.hpp"

namespace kubexm::agent {

using namespace std::chrono_literals;

Registration::Registration(Loop& loop, kube::Api& api, std::string host_namespace,
                           model::HostFacts facts, Listener listener)
    : loop_(loop),
      api_(api),
      namespace_(std::move(host_namespace)),
      facts_(std::move(facts)),
      listener_(std::move(listener)),
      backoff_(1s, 2min) {}

void Registration::start() {
    call_ = api_.get(kube::host_path(namespace_, facts_.name), [this](const Answer& answer) {
        const bool absent = !answer && answer.error().error.code == Code::not_found;
        // A 404 without a reason means that the server does not know the kind ByoHost.
        if (absent && answer.error().reason == "NotFound") return create();
        proceed(answer, &Registration::update);
    });
}

void Registration::restart() {
    auto timer = loop_.after(backoff_.next(), [this] { start(); });
    if (timer) retry_ = *std::move(timer);
}

void Registration::create() {
    call_ =
        api_.post(kube::hosts_path(namespace_), kube::new_host(facts_),
                  [this](const Answer& answer) { proceed(answer, &Registration::report_facts); });
}

void Registration::update() {
    call_ = api_.merge_patch(
        kube::host_path(namespace_, facts_.name), kube::capacity_patch(facts_),
        [this](const Answer& answer) { proceed(answer, &Registration::report_facts); });
}

void Registration::report_facts() {
    call_ =
        api_.merge_patch(kube::host_status_path(namespace_, facts_.name),
                         kube::facts_patch(facts_, read_interfaces()),
                         [this](const Answer& answer) { proceed(answer, &Registration::finish); });
}

void Registration::proceed(const Answer& answer, void (Registration::*next)()) {
    if (answer) return (this->*next)();
    listener_.on_failure(answer.error());
    auto timer = loop_.after(
        std::max<std::chrono::milliseconds>(backoff_.next(), answer.error().retry_after),
        [this] { start(); });
    if (timer) retry_ = *std::move(timer);
}

}  // namespace kubexm::agent
