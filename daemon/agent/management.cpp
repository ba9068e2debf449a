#include "daemon/agent/management.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/credentials.hpp"
#include "daemon/base/log.hpp"
#include "daemon/kube/byohost.hpp"

namespace kubexm::agent {

namespace {

constexpr int kUnauthorized = 401;

}  // namespace

Management::Management(AgentContext& context, std::string bootstrap_kubeconfig, Listener listener)
    : context_(context),
      listener_(std::move(listener)),
      identity_(context, {context.facts.name, std::move(bootstrap_kubeconfig)},
                {[this](kube::ClusterCredentials access) { on_access(std::move(access)); },
                 [this](const Error& error) { say(error); }}) {}

void Management::on_access(kube::ClusterCredentials access) {
    context_.status.change([&](model::Snapshot& now) {
        now.phase = model::Phase::enrolling;
        std::erase_if(now.certificates, [](const auto& each) { return each.name == "management"; });
        now.certificates.insert(now.certificates.begin(), view_of("management", access));
    });
    ca_ = access.ca;
    auto api = kube::Api::create(context_.loop, std::move(access));
    if (!api) return say(api.error());
    listener_.on_lost();
    watch_.reset();
    api_ = *std::move(api);
    registration_ = std::make_unique<Registration>(
        context_.loop, *api_, context_.namespace_, context_.facts,
        Registration::Listener{[this] { on_registered(); },
                               [this](const kube::Failure& failure) { on_trouble(failure); }});
    registration_->start();
}

void Management::on_registered() {
    log::notice(fmt::format("registered as ByoHost {}/{} at {}", context_.namespace_,
                            context_.facts.name, api_->server()));
    watch_ = std::make_unique<kube::Watch>(
        context_.loop, *api_, kube::hosts_path(context_.namespace_), context_.facts.name,
        kube::Watch::Listener{[this](const nlohmann::json& object) { on_object(object); },
                              [this](const kube::Answer<void>& answer) {
                                  if (!answer) return on_trouble(answer.error());
                                  identity_.settle();
                                  context_.status.set(
                                      is_true(kManagementClusterReachable, api_->server()));
                              }});
    watch_->start();
}

void Management::on_object(const nlohmann::json& object) {
    if (object.is_null()) {
        log::warning(fmt::format("there is no ByoHost {}/{} any more: it is registered anew",
                                 context_.namespace_, context_.facts.name));
        return registration_->again();
    }
    context_.status.set(is_true(kManagementClusterReachable, api_->server()));
    listener_.on_host(kube::host_from_json(object));
}

void Management::on_trouble(const kube::Failure& failure) {
    say(failure.error);
    if (failure.status != kUnauthorized) return;
    // From outside of the callbacks of what is dropped.
    context_.loop.post([this] { identity_.renew(); });
}

void Management::say(const Error& trouble) {
    log::warning("management cluster: " + trouble.what);
    context_.status.set(is_false(kManagementClusterReachable, "Warning",
                                 trouble.code == Code::not_found ? "NotConfigured" : "NoAnswer",
                                 trouble.what));
}

}  // namespace kubexm::agent
