#include "daemon/agent/tls_join.hpp"

#include <algorithm>

#include "daemon/agent/credentials.hpp"
#include "daemon/agent/orders.hpp"
#include "daemon/agent/serving_pair.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/base/io.hpp"
#include "daemon/base/random.hpp"
#include "daemon/base/try.hpp"
#include "daemon/model/node_labels.hpp"
#include "daemon/pki/certificate.hpp"
#include "daemon/plan/join.hpp"

namespace kubexm::agent {

namespace {

/// The credentials of a joined node with the cluster's present server and CA, without a token.
Result<std::optional<kube::ClusterCredentials>> known_cluster(AgentContext& context,
                                                              const std::string& owner) {
    auto stored = TRY(load_credentials(context.store, NodeCredential::file_of(owner)));
    if (!stored) return stored;
    if (const auto& settings = context.state.read().settings) {
        stored->server = settings->server;
        stored->server_name = settings->server_name;
        stored->ca = settings->ca;
    }
    return stored;
}

/// Before 1.36 kubelet reads the CAs of its API server only when it starts: it is started again for
/// one that it does not have, and not for one that goes.
void keep_started_cas(JoinedMachine& joined, const JoinedMachine* before, const std::string& ca) {
    constexpr std::uint32_t kFirstThatReloads = 36;
    joined.started_cas = pki::fingerprints_of(ca).value_or(std::vector<std::string>());
    if (before == nullptr) return;
    joined.wanted.started_ca_digest = before->wanted.started_ca_digest;
    if (before->started_cas.empty() || joined.wanted.minor >= kFirstThatReloads) return;
    if (std::ranges::includes(before->started_cas, joined.started_cas)) {
        joined.started_cas = before->started_cas;
    } else {
        joined.wanted.started_ca_digest = joined.wanted.ca_digest;
    }
}

/// With the labels or taints of earlier orders that the Node still has, or may have.
template <typename T>
void keep_asked(std::vector<T>& asked, const std::vector<T>& before,
                const std::vector<T>* present) {
    for (const T& each : before) {
        const bool is_gone =
            present != nullptr && std::ranges::find(*present, each) == present->end();
        const bool is_known = std::ranges::find(asked, each) != asked.end();
        if (!is_gone && !is_known) asked.push_back(each);
    }
}

/// Of a node that stays.
void keep_of_node(JoinedMachine& joined, const JoinedMachine& before,
                  const std::optional<NodeState>& seen) {
    const model::NodeRecord* node = seen && seen->record ? &*seen->record : nullptr;
    joined.version = before.version;
    joined.labels = before.labels;
    joined.became_ready = before.became_ready;
    keep_asked(joined.taints, before.taints, node == nullptr ? nullptr : &node->taints);
    keep_asked(joined.labels_of_others, before.labels_of_others,
               node == nullptr ? nullptr : &node->labels);
}

Result<> copy(const CredentialStore& store, const std::string& from, const std::string& to) {
    const auto present = TRY(store.read(to));
    if (present) return {};
    const auto content = TRY(store.read(from));
    if (!content) return {};
    return store.write(to, *content);
}

/// The node's certificates belong to the node, under each of its owners.
Result<> copy_credentials(const CredentialStore& store, const std::string& from,
                          const std::string& to) {
    TRY(copy(store, serving_file_of(from), serving_file_of(to)));
    return copy(store, NodeCredential::file_of(from), NodeCredential::file_of(to));
}

}  // namespace

std::unique_ptr<Activity<void>> TlsBootstrap::join(AgentContext& context, ManagementApi management,
                                                   JoinRequest request,
                                                   Activity<void>::Done done) const {
    return std::make_unique<TlsJoin>(context, std::move(management), std::move(request),
                                     std::move(done));
}

Result<std::optional<kube::ClusterCredentials>> TlsBootstrap::node_credentials(
    const AgentContext& context, const std::string& owner) const {
    return load_credentials(context.store, NodeCredential::file_of(owner));
}

TlsJoin::TlsJoin(AgentContext& context, ManagementApi management, JoinRequest request, Done done)
    : Activity(context, std::move(done)),
      management_(std::move(management)),
      request_(std::move(request)) {}

void TlsJoin::start() {
    if (!request_.from.empty()) {
        auto copied = copy_credentials(context().store, request_.from, request_.owner);
        if (!copied) return finish(std::unexpected(copied.error()));
    }
    const AgentState& state = context().state.read();
    const auto& observed = state.executor.observed;
    // In place of a refused certificate the server issues another one for the secret's token only.
    const bool is_refused = state.credentials_problem.has_value();
    if (observed && observed->is_joined(request_.owner) && !is_refused) {
        auto known = known_cluster(context(), request_.owner)
                         .value_or(std::optional<kube::ClusterCredentials>());
        if (known) return get_credential(*std::move(known));
    }
    read_secret();
}

void TlsJoin::read_secret() {
    if (!request_.host.bootstrap_secret || management_.api == nullptr) {
        return finish(fail(Code::not_found,
                           "ByoHost names no bootstrap secret: expected one, to request the "
                           "node's certificate"));
    }
    secret_ =
        std::make_unique<SecretReader>(context(), management_, *request_.host.bootstrap_secret,
                                       [this](Result<kube::BootstrapMaterial> material) {
                                           if (!material) {
                                               return finish(std::unexpected(material.error()));
                                           }
                                           check_host(std::move(material->credentials));
                                       });
    secret_->start();
}

/// Before a certificate is requested. The executor checks the plan, too.
void TlsJoin::check_host(kube::ClusterCredentials bootstrap) {
    const auto wanted = wanted_join(context().state.read());
    if (!wanted || !*wanted) return get_credential(std::move(bootstrap));  // which says why
    const model::NodeJoin& join = **wanted;
    model::JoinNeeds needs{.node_name = join.node_name,
                           .server = join.server,
                           .minor = join.minor,
                           .cgroup_driver = join.kubelet.cgroup_driver,
                           .fail_swap_on = join.kubelet.fail_swap_on};
    // Without the token: any answer of the server will do.
    kube::ClusterCredentials server{
        .server = bootstrap.server, .server_name = bootstrap.server_name, .ca = bootstrap.ca};
    checks_ = std::make_unique<JoinChecks>(
        context(), std::move(needs), std::move(server),
        [this, bootstrap = std::move(bootstrap)](const Result<Checked>& checked) mutable {
            on_checked(checked, std::move(bootstrap));
        });
    checks_->start();
}

void TlsJoin::on_checked(const Result<Checked>& checked, kube::ClusterCredentials bootstrap) {
    if (!checked) return finish(std::unexpected(checked.error()));
    context().state.change([&](AgentState& state) { state.preflight = checked->findings; });
    const auto& observed = context().state.read().executor.observed;
    const bool has_node = observed && !observed->present_machines().empty();
    auto ready = model::without_errors(checked->findings);
    const std::optional<std::unexpected<Error>>& unreachable = checked->unreachable;
    // Else it is adopted, or joined further.
    if (!ready && !has_node) return finish(unreachable ? *unreachable : ready);
    get_credential(std::move(bootstrap));
}

void TlsJoin::get_credential(kube::ClusterCredentials bootstrap) {
    credential_ = std::make_unique<NodeCredential>(
        context(), request_.owner, std::move(bootstrap),
        [this](const Result<kube::ClusterCredentials>& credentials) {
            on_credential(credentials);
        });
    credential_->start();
}

void TlsJoin::on_credential(const Result<kube::ClusterCredentials>& credentials) {
    auto submitted = credentials ? submit_plan(*credentials) : std::unexpected(credentials.error());
    if (!submitted) finish(submitted);
}

Result<> TlsJoin::submit_plan(const kube::ClusterCredentials& credentials) {
    auto wanted = wanted_join(context().state.read());
    if (!wanted) {
        return fail(Code::unavailable, "the orders changed while the certificate was requested");
    }
    model::NodeJoin join = TRY(*std::move(wanted));
    const Secret client = pair_of(credentials.certificate, credentials.key);
    const std::string plan_id = new_id("join", context().random);
    TRY(remember_join(join, credentials.ca, {plan_id, sha256(client.reveal())}));
    const Secret serving = TRY(serving_pair(context(), request_.owner));
    join.client_digest = sha256(client.reveal());
    join.serving_digest = sha256(serving.reveal());
    join.ca_digest = sha256(credentials.ca);
    const auto& joined = context().state.read().memory.joined;
    if (joined) join.started_ca_digest = joined->wanted.started_ca_digest;
    const std::string client_ca = joined ? joined->client_ca : credentials.ca;
    join.client_ca_digest = sha256(client_ca);
    std::vector<Fd> contents;
    std::vector<std::string> digests{join.ca_digest, join.client_digest, join.serving_digest};
    std::vector<std::string_view> sent{credentials.ca, client.reveal(), serving.reveal()};
    if (join.client_ca_digest != join.ca_digest) {
        digests.push_back(join.client_ca_digest);
        sent.emplace_back(client_ca);
    }
    for (const std::string_view bytes : sent) {
        Fd file = TRY(memory_file(bytes));
        contents.push_back(std::move(file));
    }
    run_ =
        std::make_unique<PlanRun>(context(),
                                  PlanRun::Apply{plan::make_join(join, plan_id), std::move(digests),
                                                 std::move(contents), request_.on_behalf_of},
                                  [this](const Result<wire::PlanSummary>& end) { on_joined(end); });
    run_->start();
    return {};
}

Result<> TlsJoin::remember_join(const model::NodeJoin& wanted, const std::string& ca,
                                const SentPair& pair) {
    return remember(context(), [&](Memory& memory) {
        JoinedMachine joined{.owner = request_.owner,
                             .machine = request_.host.machine.value_or(model::Reference{}),
                             .cluster = request_.host.cluster,
                             .version = request_.host.version,
                             .join_mode = std::string(TlsBootstrap::kMode),
                             .management = context().state.read().management.server,
                             .host_uid = request_.host.uid,
                             .resource_version = request_.host.resource_version,
                             .wanted = wanted,
                             .labels = model::labels_for_kubelet(wanted.labels),
                             .taints = wanted.taints,
                             .labels_of_others = model::labels_of_others(wanted.labels),
                             .client_ca = ca,
                             .pair = pair};
        // Also in an adoption that was killed before its plan: the memory has the new owner then.
        const auto& before = memory.joined;
        const auto& observed = context().state.read().executor.observed;
        const bool stays = before && observed && !observed->joined_machine().empty() &&
                           (before->owner == request_.owner || before->owner == request_.from);
        if (stays) keep_of_node(joined, *before, context().state.read().node);
        overlook_release(joined, observed);
        keep_started_cas(joined, stays ? &*before : nullptr, ca);
        // kubelet's clients keep their CAs, also where the first plan has not ended yet.
        const bool is_begun = before && observed && observed->has(before->owner) &&
                              (before->owner == request_.owner || before->owner == request_.from);
        if (is_begun && !before->client_ca.empty()) joined.client_ca = before->client_ca;
        memory.joined = std::move(joined);
        memory.freed.reset();
        memory.adopted.clear();
        memory.adopted_by.reset();
        // One of this machine is news: the next decision ends the join.
        if (memory.leave && memory.leave->owner != request_.owner) memory.leave.reset();
    });
}

void TlsJoin::on_joined(const Result<wire::PlanSummary>& end) {
    if (!end) return finish(std::unexpected(end.error()));
    if (request_.from.empty()) return finish({});
    run_ = std::make_unique<PlanRun>(context(), PlanRun::Undo{request_.from, request_.on_behalf_of},
                                     [this](const Result<wire::PlanSummary>& undone) {
                                         if (!undone) {
                                             return finish(std::unexpected(undone.error()));
                                         }
                                         finish({});
                                     });
    run_->start();
}

}  // namespace kubexm::agent
