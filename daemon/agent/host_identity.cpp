#include "daemon/agent/host_identity.hpp"

#include <fmt/format.h>

#include "daemon/agent/credentials.hpp"
#include "daemon/agent/rejected_request.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/base/host_names.hpp"
#include "daemon/base/io.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/try.hpp"
#include "daemon/kube/byohost.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

constexpr const char* kCredentialsFile = "management.kubeconfig";
constexpr std::string_view kNone = "none";  // content set by kubexmd.service without a file of root
constexpr std::size_t kMaxKubeconfig = std::size_t{1} << 20U;
constexpr const char* kKeyFile = "management.key";
constexpr const char* kNextKeyFile = "management.next.key";
constexpr std::chrono::hours kLifetime{365 * 24};  // as the provider's own agent requests

CertificateOrder::Spec spec_for(const std::string& host) {
    return {.identity = "management",
            .key_file = kKeyFile,
            .subject = {"byoh:host:" + host, "byoh:hosts"},
            .signer = "kubernetes.io/kube-apiserver-client",
            .usages = {"client auth"},
            .name = [host](const pki::Key& key) { return pki::host_request_name(key, host); },
            .hint =
                "The token of the bootstrap kubeconfig may have expired: put a new one into "
                "/etc/kubexm/bootstrap-kubeconfig",
            .lifetime = kLifetime};
}

}  // namespace

HostIdentity::HostIdentity(AgentContext& context, Options options, Listener listener)
    : context_(context),
      options_(std::move(options)),
      listener_(std::move(listener)),
      host_(context.facts().name),
      backoff_(1s, 5min) {}

void HostIdentity::start() {
    auto loaded = load_credentials(context_.store, kCredentialsFile);
    if (!loaded) {
        log::warning("stored identity is not usable: " + loaded.error().what);
        return enrol();
    }
    std::optional<kube::ClusterCredentials>& credentials = *loaded;
    if (!credentials) return enrol();
    std::ignore = remember_name();  // unless the memory was lost it has the name
    use(*std::move(credentials));
}

void HostIdentity::use(kube::ClusterCredentials credentials) {
    is_refused_ = false;
    present_ = kube::ClusterCredentials{.server = credentials.server,
                                        .server_name = credentials.server_name,
                                        .ca = credentials.ca,
                                        .token = Secret(),
                                        .certificate = "",
                                        .key = Secret()};
    auto kept = copy_of(credentials);
    listener_.on_credentials(std::move(credentials));
    keep(std::move(kept));
    follow_bootstrap();
}

/// The connections stay, and so do their watches.
void HostIdentity::keep(kube::ClusterCredentials credentials) {
    CertificateOrder::Spec spec = spec_for(host_);
    // Another cluster's bootstrap kubeconfig may request one at the same time.
    spec.identity = "management renewal";
    spec.key_file = kNextKeyFile;
    const std::string path = kube::hosts_path(context_.namespace_) + "/" + host_;
    keeper_ = std::make_unique<CertificateKeeper>(
        context_,
        CertificateKeeper::Identity{
            .name = "management",
            .order = {std::move(spec), path},
            .clock_offset = listener_.clock_offset,
            .use = [this](const kube::ClusterCredentials& renewed) -> Result<> {
                TRY(context_.store.write(kCredentialsFile, kube::kubeconfig_of(renewed)));
                listener_.on_renewed(renewed);
                return {};
            }},
        std::move(credentials));
    keeper_->start();
}

void HostIdentity::use_bootstrap(Result<std::shared_ptr<const Fd>> content) {
    if (options_.is_configured) return;
    if (!content) return report(content.error());
    if (*content == nullptr) return;
    passed_ = *std::move(content);
    const std::string before = digest_;
    std::ignore = read_bootstrap();
    if (digest_ == before) return;
    backoff_.reset();
    forget_rejection(context_, kKeyFile);
    if (present_ && !is_refused_) return follow_bootstrap();
    enrol();
}

/// Another token for the present cluster is used when the certificate is refused.
void HostIdentity::follow_bootstrap() {
    retry_.reset();
    order_.reset();
    context_.state.change([](AgentState& state) { state.management.bootstrap_problem.reset(); });
    auto bootstrap = read_bootstrap();
    if (!bootstrap && bootstrap.error().code != Code::not_found) return report(bootstrap.error());
    if (!bootstrap || !present_ || is_same_cluster(*bootstrap, *present_)) {
        std::ignore = context_.store.remove(kKeyFile);  // left by a kill after the enrolment
        return;
    }
    log::notice(
        fmt::format("the bootstrap kubeconfig names the cluster at {}; this host leaves the "
                    "one at {} when it has a certificate there",
                    bootstrap->server, context_.state.read().management.server));
    enrol();
}

/// The keeper of the certificate goes on: a refusal may pass.
void HostIdentity::renew() {
    is_refused_ = true;
    enrol();
}

void HostIdentity::confirm() {
    if (!std::exchange(is_refused_, false)) return;
    retry_.reset();
    order_.reset();
}

void HostIdentity::update() {
    if (keeper_) keeper_->update();
    if (host_ != context_.facts().name) follow_name();
}

/// A host without a certificate may get its name late, as from DHCP.
void HostIdentity::follow_name() {
    host_ = context_.facts().name;
    forget_rejection(context_, kKeyFile);
    order_.reset();
    api_.reset();
    backoff_.reset();
    context_.state.change([](AgentState& state) { state.management.problem.reset(); });
    enrol();
}

void HostIdentity::enrol() {
    retry_.reset();
    if (is_local_name(host_)) {
        return report({Code::invalid,
                       fmt::format("host name \"{}\": expected a name of this host's own, which no "
                                   "other host has; set it with hostnamectl, or set host.name in "
                                   "kubexmd.yaml and restart kubexmd",
                                   host_)});
    }
    auto bootstrap = read_bootstrap();
    // Without one a retry is useless: the executor passes on a new one.
    if (!bootstrap && bootstrap.error().code == Code::not_found) return report(bootstrap.error());
    if (!bootstrap) return retry_later(bootstrap.error());
    bootstrap_ = *std::move(bootstrap);
    order();
}

/// Empty: there is none.
Result<Secret> HostIdentity::read_text() const {
    if (passed_) {
        return Secret(TRY(read_whole(passed_->get(), "bootstrap kubeconfig", kMaxKubeconfig)));
    }
    const std::string& path = options_.bootstrap_kubeconfig;
    auto read = path.empty() ? Result<std::string>("") : read_file(path, kMaxKubeconfig);
    if (!read && read.error().code == Code::not_found) return Secret();
    if (!read) return during("bootstrap kubeconfig", read.error());
    return Secret(*std::move(read));
}

Result<kube::ClusterCredentials> HostIdentity::read_bootstrap() {
    const Secret text = TRY(read_text());
    digest_ = sha256(text.reveal());
    if (text.empty() || text.reveal() == kNone) {
        return fail(Code::not_found,
                    "no bootstrap kubeconfig: put it into /etc/kubexm/bootstrap-kubeconfig "
                    "(mode 0600, owner root)");
    }
    auto bootstrap = kube::credentials_from_kubeconfig(text.reveal());
    if (!bootstrap) return during("bootstrap kubeconfig", bootstrap.error());
    return bootstrap;
}

void HostIdentity::order() {
    context_.state.change([](AgentState& state) { state.management.configured = true; });
    auto api = context_.connect(copy_of(bootstrap_));
    if (!api) return retry_later(api.error());
    api_ = *std::move(api);
    order_ = std::make_unique<CertificateOrder>(
        context_, *api_, spec_for(host_),
        [this](Result<Credential> credential) { on_certificate(std::move(credential)); });
    order_->start();
}

Result<> HostIdentity::remember_name() {
    return remember(context_, [&](Memory& memory) { memory.host_name = host_; });
}

/// The name is remembered first: a certificate that is stored is for a name that stays.
void HostIdentity::on_certificate(Result<Credential> credential) {
    if (host_ != context_.facts().name) return;  // follow_name() is about to request another
    const Result<> remembered =
        credential ? remember_name() : Result<>(std::unexpected(credential.error()));
    auto credentials = remembered ? store_credentials(context_.store, kCredentialsFile, bootstrap_,
                                                      *std::move(credential))
                                  : std::unexpected(remembered.error());
    order_.reset();
    api_.reset();
    if (!credentials) return retry_later(credentials.error());
    keeper_.reset();  // it may be renewing the certificate before
    for (const char* key : {kKeyFile, kNextKeyFile}) std::ignore = context_.store.remove(key);
    bootstrap_ = {};
    backoff_.reset();
    use(*std::move(credentials));
}

/// A cluster that the host cannot follow to is no problem of the present one.
void HostIdentity::report(const Error& why) {
    if (!present_ || is_refused_) return listener_.on_error(why);
    log::warning(why.what);
    context_.state.change([&](AgentState& state) { state.management.bootstrap_problem = why; });
}

/// For ever: the server may come back, a new token or an approval may arrive, and the disk may give
/// the stored certificate.
void HostIdentity::retry_later(const Error& why) {
    report(why);
    const bool from_store = !present_ && !is_refused_;
    auto timer = context_.loop.after(backoff_.next(context_.random()),
                                     [this, from_store] { from_store ? start() : enrol(); });
    if (timer) retry_ = *std::move(timer);
}

}  // namespace kubexm::agent
