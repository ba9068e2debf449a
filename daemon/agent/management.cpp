#include "daemon/agent/management.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/credentials.hpp"
#include "daemon/base/log.hpp"
#include "daemon/kube/byohost.hpp"

namespace kubexm::agent {

Management::Management(AgentContext& context, std::string bootstrap_kubeconfig, Listener listener)
    : context_(context),
      listener_(std::move(listener)),
      identity_(
          context, {context.facts.name, std::move(bootstrap_kubeconfig)},
          {[this](kube::ClusterCredentials credentials) { on_credentials(std::move(credentials)); },
           [this](const Error& error) { report(error); }}) {}

void Management::on_credentials(kube::ClusterCredentials credentials) {
    context_.status.change([&](model::Snapshot& now) {
        now.phase = model::Phase::enrolling;
        std::erase_if(now.certificates, [](const auto& each) { return each.name == "management"; });
        now.certificates.insert(now.certificates.begin(), view_of("management", credentials));
    });
    ca_ = credentials.ca;
    auto api = kube::Api::create(context_.loop, std::move(credentials));
    if (!api) return report(api.error());
    listener_.on_lost();
    watch_.reset();
    api_ = *std::move(api);
    registration_ = std::make_unique<Registration>(
        context_.loop, *api_, context_.namespace_, context_.facts,
        Registration::Listener{[this] { on_registered(); },
                               [this](const kube::Failure& failure) { on_failure(failure); }});
    registration_->start();
}

void Management::on_registered() {
    log::notice(fmt::format("registered as ByoHost {}/{} at {}", context_.namespace_,
                            context_.facts.name, api_->server()));
    watch_ = std::make_unique<kube::Watch>(
        context_.loop, *api_, kube::hosts_path(context_.namespace_), context_.facts.name,
        kube::Watch::Listener{[this](const nlohmann::json& object) { on_object(object); },
                              [this](const kube::Answer<void>& answer) {
                                  if (!answer) return on_failure(answer.error());
                                  identity_.confirm();
                                  context_.status.set(
                                      is_true(kManagementClusterReachable, api_->server()));
                              }});
    watch_->start();
}

void Management::on_object(const nlohmann::json& object) {
    if (object.is_null()) {
        log::warning(fmt::format("ByoHost {}/{} was deleted; registering it again",
                                 context_.namespace_, context_.facts.name));
        return registration_->restart();
    }
    context_.status.set(is_true(kManagementClusterReachable, api_->server()));
    listener_.on_host(kube::host_from_json(object));
}

void Management::on_failure(const kube::Failure& failure) {
    report(failure.error);
    if (failure.status != kube::HttpStatus::unauthorized) return;
    // Posted: a renewal destroys the object whose callback this is.
    context_.loop.post([this] { identity_.renew(); });
}

void Management::report(const Error& error) {
    log::warning("management cluster: " + error.what);
    context_.status.set(is_false(kManagementClusterReachable, "Warning",
                                 error.code == Code::not_found ? "NotConfigured" : "NoAnswer",
                                 error.what));
}

}  // namespace kubexm::agent
