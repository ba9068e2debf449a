#include "daemon/agent/node_certificate.hpp"

#include "daemon/agent/credentials.hpp"
#include "daemon/agent/node_credential.hpp"
#include "daemon/base/crash_point.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/base/io.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/random.hpp"
#include "daemon/base/try.hpp"
#include "daemon/kube/node.hpp"
#include "daemon/pki/renewal.hpp"
#include "daemon/plan/renewal_plan.hpp"

namespace kubexm::agent {

namespace {

constexpr const char* kOfKubelet = "node of kubelet";  // in AgentState::renewals

std::string digest_of_pair(const kube::ClusterCredentials& credentials) {
    return sha256(pair_of(credentials.certificate, credentials.key).reveal());
}

/// The digest of the pair that a plan has given to kubelet last; empty: not known.
std::string published_pair(const AgentState& state, const ExecutorState& executor,
                           const std::string& owner) {
    const auto& joined = state.memory.joined;
    for (const wire::Outcome& plan : executor.applied(owner)) {
        if (plan.purpose == model::PlanPurpose::renew) return plan.wanted;
        if (plan.purpose != model::PlanPurpose::join) continue;
        const bool is_known =
            joined && joined->owner == owner && joined->pair.plan_id == plan.plan_id;
        return is_known ? joined->pair.digest : "";
    }
    return "";
}

}  // namespace

NodeCertificate::NodeCertificate(AgentContext& context, std::string owner, kube::Api& api,
                                 kube::ClusterCredentials present,
                                 std::function<void()> on_published)
    : context_(context),
      owner_(std::move(owner)),
      api_(api),
      ca_(present.ca),
      pair_digest_(digest_of_pair(present)),
      certificate_(present.certificate),
      keeper_(context, identity(), std::move(present)),
      on_published_(std::move(on_published)) {}

CertificateKeeper::Identity NodeCertificate::identity() {
    const std::string& node = context_.facts().name;
    CertificateOrder::Spec spec = NodeCredential::spec_for(owner_, node);
    // A join may request one at the same time.
    spec.identity = "node renewal";
    spec.key_file = owner_ + ".next.key";
    return {.name = "node",
            .order = {std::move(spec), kube::node_path(node)},
            .clock_offset = [this] { return api_.clock_offset(); },
            .use = [this](const kube::ClusterCredentials& renewed) { return use(renewed); }};
}

/// On the disk first: a process that is killed goes on with the certificate that kubelet gets.
Result<> NodeCertificate::use(const kube::ClusterCredentials& credentials) {
    TRY(context_.store.write(NodeCredential::file_of(owner_), kube::kubeconfig_of(credentials)));
    crash_point("renewal.stored");
    api_.use_certificate(credentials.certificate, Secret(std::string(credentials.key.reveal())));
    auto before = pki::read_certificate(std::exchange(certificate_, credentials.certificate));
    if (is_published() && before) of_kubelet_ = *std::move(before);
    pair_digest_ = digest_of_pair(credentials);
    const auto person = keeper_.asked_by();
    on_behalf_of_ = person ? claim_of_person(*person) : std::nullopt;
    context_.state.change([&](AgentState& state) {
        if (state.node) state.node->certificate = view_of("node", credentials, context_.facts());
    });
    return {};
}

bool NodeCertificate::is_current() const {
    auto loaded = load_credentials(context_.store, NodeCredential::file_of(owner_));
    if (!loaded) return true;
    const std::optional<kube::ClusterCredentials> stored = *std::move(loaded);
    return !stored || (stored->server == api_.server() && stored->ca == ca_ &&
                       digest_of_pair(*stored) == pair_digest_);
}

/// As far as it is observed.
bool NodeCertificate::is_published() const {
    const AgentState& state = context_.state.read();
    return state.executor.observed &&
           published_pair(state, *state.executor.observed, owner_) == pair_digest_;
}

/// Not beside a join or a release, which write the same files.
bool NodeCertificate::may_publish() const {
    const AgentState& state = context_.state.read();
    const auto& connected = state.executor.connected;
    if (!state.decision || !state.executor.observed || !connected || !*connected) return false;
    const Action action = state.decision->action;
    const bool is_other =
        action == Action::join || action == Action::adopt || action == Action::release;
    return !is_other && state.executor.observed->is_joined(owner_) && !is_published();
}

void NodeCertificate::update() {
    keeper_.update();
    if (run_ || retry_) return;
    if (is_published()) report(std::nullopt);
    if (!may_publish()) return;
    auto published = publish();
    if (!published) on_published(std::unexpected(published.error()));
}

Result<> NodeCertificate::publish() {
    auto stored = TRY(load_credentials(context_.store, NodeCredential::file_of(owner_)));
    if (!stored) return fail(Code::not_found, "no node certificate is stored for " + owner_);
    const Secret pair = pair_of(stored->certificate, stored->key);
    const std::string digest = sha256(pair.reveal());
    std::vector<Fd> contents;
    contents.push_back(TRY(memory_file(pair.reveal())));
    run_ = std::make_unique<PlanRun>(
        context_,
        PlanRun::Apply{plan::make_client_renewal(owner_, digest, new_id("renew", context_.random)),
                       {digest},
                       std::move(contents),
                       on_behalf_of_},
        [this](const Result<wire::PlanSummary>& end) { on_published(end); });
    run_->start();
    return {};
}

/// An observation then shows the certificate of kubelet, which does not get it again at once.
void NodeCertificate::on_published(const Result<wire::PlanSummary>& end) {
    run_.reset();
    if (end) {
        on_behalf_of_.reset();
        backoff_.reset();
        of_kubelet_.reset();
        report(std::nullopt);
        on_published_();
    } else {
        log::warning("certificate node: " + end.error().what);
        report(Error{end.error().code, "kubelet does not have the new one: " + end.error().what});
    }
    auto timer = context_.loop.after(backoff_.next(context_.random()), [this] {
        retry_.reset();
        update();
    });
    if (timer) retry_ = *std::move(timer);
}

/// kubelet goes on with an older one, which ends.
void NodeCertificate::report(std::optional<Error> problem) {
    if (!problem) {
        if (!context_.state.read().renewals.contains(kOfKubelet)) return;
        return context_.state.change([](AgentState& state) { state.renewals.erase(kOfKubelet); });
    }
    constexpr double kUnknown = 0.1;  // it was renewed because it ends soon
    const auto now = context_.state.now() + api_.clock_offset().value_or(std::chrono::seconds(0));
    RenewalProblem found{*std::move(problem), kUnknown, {}, {}};
    if (of_kubelet_) {
        found.life_left = pki::life_left(*of_kubelet_, now);
        found.not_after = of_kubelet_->not_after;
    }
    context_.state.change([&](AgentState& state) { state.renewals[kOfKubelet] = found; });
}

}  // namespace kubexm::agent
