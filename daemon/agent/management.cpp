#include "daemon/agent/management.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/agent/credentials.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/base/log.hpp"
#include "daemon/kube/byohost.hpp"

namespace kubexm::agent {

namespace {

constexpr std::chrono::seconds kEchoes{10};

}  // namespace

Management::Management(AgentContext& context, HostIdentity::Options identity, Listener listener)
    : context_(context),
      listener_(std::move(listener)),
      identity_(
          context, std::move(identity),
          {[this](kube::ClusterCredentials credentials) { on_credentials(std::move(credentials)); },
           [this](const kube::ClusterCredentials& renewed) { on_renewed(renewed); },
           [this] { return clock_offset(); }, [this](const Error& error) { report(error); }}) {}

void Management::on_bootstrap(const wire::BootstrapKubeconfig& bootstrap) {
    if (bootstrap.problem.empty()) return identity_.use_bootstrap(bootstrap.content);
    identity_.use_bootstrap(fail(Code::invalid, bootstrap.problem));
}

void Management::on_credentials(kube::ClusterCredentials credentials) {
    const auto certificate = view_of("management", credentials, context_.facts());
    const std::string ca = credentials.ca;
    auto api = context_.connect(std::move(credentials));
    if (!api) return report(api.error());
    listener_.on_lost();
    facts_.reset();
    watch_.reset();
    registration_.reset();
    ca_ = ca;
    api_ = *std::move(api);
    context_.state.change([&](AgentState& state) {
        state.host.reset();
        if (state.management.server != api_->server()) state.settings.reset();
        state.management.configured = true;
        state.management.reachable = false;
        state.management.server = api_->server();
        state.management.certificate = certificate;
    });
    registration_ = std::make_unique<Registration>(
        context_, *api_,
        Registration::Listener{[this](const model::HostFacts& written) { on_registered(written); },
                               [this] { on_creating(); },
                               [this](const nlohmann::json& object) { on_found(object); },
                               [this](const nlohmann::json& object) { on_created(object); },
                               [this](const kube::Failure& failure) { on_failure(failure); }});
    registration_->start();
}

void Management::on_renewed(const kube::ClusterCredentials& credentials) {
    api_->use_certificate(credentials.certificate, Secret(std::string(credentials.key.reveal())));
    context_.state.change([&](AgentState& state) {
        state.management.certificate = view_of("management", credentials, context_.facts());
    });
}

void Management::update() {
    identity_.update();
    if (facts_) facts_->update();
}

void Management::on_registered(const model::HostFacts& written) {
    log::notice(fmt::format("registered as ByoHost {}/{} at {}", context_.namespace_,
                            context_.facts().name, api_->server()));
    facts_ = std::make_unique<FactsReporter>(context_, *api_, written);
    watch_ = std::make_unique<kube::Watch>(
        context_.loop, *api_, context_.random, kube::hosts_path(context_.namespace_),
        context_.facts().name,
        kube::Watch::Listener{[this](const nlohmann::json& object) { on_object(object); },
                              [this](const kube::Answer<void>& answer) {
                                  if (!answer) return on_failure(answer.error());
                                  identity_.confirm();
                                  on_reachable();
                              }});
    watch_->start();
}

void Management::on_reachable() {
    if (context_.state.read().management.reachable) return;
    context_.state.change([](AgentState& state) {
        state.management.reachable = true;
        state.management.problem.reset();
    });
}

void Management::on_object(const nlohmann::json& object) {
    if (object.is_null()) {
        log::warning(fmt::format("ByoHost {}/{} was deleted; registering it again",
                                 context_.namespace_, context_.facts().name));
        facts_.reset();
        return registration_->restart();
    }
    on_reachable();
    on_version(kube::host_from_json(object));
}

/// The watch still brings versions from before our last write: they would undo it in the state.
/// After a while an old version is the truth, of a cluster that was restored.
void Management::on_version(const model::HostRecord& host) {
    const AgentState& state = context_.state.read();
    const auto age = context_.state.now() - state.host_written;
    const bool is_echo = state.host && state.host->uid == host.uid && age < kEchoes &&
                         is_older(host.resource_version, state.host->resource_version);
    if (is_echo) {
        auto timer = context_.loop.after(kEchoes, [this, host] { on_version(host); });
        if (timer) delayed_ = *std::move(timer);
        return;
    }
    delayed_.reset();
    context_.state.change([&](AgentState& changed) { changed.host = host; });
    listener_.on_host();
}

/// Of a host without a node nothing is remembered that a kill could make wrong.
void Management::on_creating() {
    if (!context_.state.read().memory.joined) return;
    std::ignore = remember(context_, [](Memory& memory) { memory.creates_host = true; });
}

void Management::on_found(const nlohmann::json& object) {
    if (context_.state.read().memory.creates_host) on_created(object);
}

/// A ByoHost that this host made itself is not from before the join.
void Management::on_created(const nlohmann::json& object) {
    const model::HostRecord host = kube::host_from_json(object);
    std::ignore = remember(context_, [&](Memory& memory) {
        memory.creates_host = false;
        if (!memory.joined || memory.joined->management != api_->server()) return;
        memory.joined->host_uid = host.uid;
        memory.joined->resource_version = host.resource_version;
    });
}

void Management::on_failure(const kube::Failure& failure) {
    report(failure.error);
    if (failure.status != kube::HttpStatus::unauthorized) return;
    // Posted: a renewal destroys the object whose callback this is.
    context_.loop.post([this] { identity_.renew(); });
}

void Management::report(const Error& error) {
    log::warning("management cluster: " + error.what);
    context_.state.change([&](AgentState& state) {
        state.management.reachable = false;
        state.management.problem = error;
    });
}

}  // namespace kubexm::agent
