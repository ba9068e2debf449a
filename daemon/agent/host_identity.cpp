#include "daemon/agent/host_identity.hpp"

#include <fmt/format.h>

#include "daemon/agent/credentials.hpp"
#include "daemon/base/io.hpp"
#include "daemon/base/log.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

constexpr const char* kCredentialsFile = "management.kubeconfig";
constexpr std::string_view kNone = "none";  // content set by kubexmd.service without a file of root
constexpr std::size_t kMaxKubeconfig = std::size_t{1} << 20U;
constexpr const char* kKeyFile = "management.key";
constexpr std::chrono::hours kLifetime{365 * 24};  // as the provider's own agent requests

std::chrono::sys_seconds now() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

CertificateOrder::Spec spec_for(const std::string& host) {
    return {.key_file = kKeyFile,
            .subject = {"byoh:host:" + host, "byoh:hosts"},
            .signer = "kubernetes.io/kube-apiserver-client",
            .usages = {"client auth"},
            .name = [host](const pki::Key& key) { return pki::host_request_name(key, host); },
            .hint =
                "The token of the bootstrap kubeconfig may have expired: put a new one into "
                "/etc/kubexm/bootstrap-kubeconfig and restart kubexmd",
            .lifetime = kLifetime};
}

}  // namespace

HostIdentity::HostIdentity(AgentContext& context, Options options, Listener listener)
    : context_(context),
      options_(std::move(options)),
      listener_(std::move(listener)),
      backoff_(1s, 5min) {}

void HostIdentity::start() {
    auto loaded = load_credentials(context_.store, kCredentialsFile, now());
    if (!loaded) {
        log::warning("stored identity is not usable: " + loaded.error().what);
        return enrol();
    }
    std::optional<kube::ClusterCredentials>& credentials = *loaded;
    if (!credentials) return enrol();
    std::ignore = context_.store.remove(kKeyFile);  // left by a kill after the enrolment
    listener_.on_credentials(*std::move(credentials));
}

void HostIdentity::renew() {
    is_refused_ = true;
    enrol();
}

void HostIdentity::confirm() {
    is_refused_ = false;
    retry_.reset();
    order_.reset();
}

void HostIdentity::enrol() {
    retry_.reset();
    auto bootstrap = read_bootstrap();
    // systemd passes credentials at the start only: without one a retry is useless.
    if (!bootstrap && bootstrap.error().code == Code::not_found) {
        return listener_.on_error(bootstrap.error());
    }
    if (!bootstrap) return retry_later(bootstrap.error());
    bootstrap_ = *std::move(bootstrap);
    order();
}

Result<kube::ClusterCredentials> HostIdentity::read_bootstrap() const {
    const std::string& path = options_.bootstrap_kubeconfig;
    auto read = path.empty() ? Result<std::string>("") : read_file(path, kMaxKubeconfig);
    const bool is_absent = !read && read.error().code == Code::not_found;
    if (!read && !is_absent) return during("bootstrap kubeconfig", read.error());
    const Secret text(is_absent ? "" : *std::move(read));
    if (text.empty() || text.reveal() == kNone) {
        return fail(Code::not_found,
                    "no bootstrap kubeconfig: put it into /etc/kubexm/bootstrap-kubeconfig "
                    "(mode 0600, owner root) and restart kubexmd");
    }
    auto bootstrap = kube::credentials_from_kubeconfig(text.reveal());
    if (!bootstrap) return during("bootstrap kubeconfig", bootstrap.error());
    return bootstrap;
}

void HostIdentity::order() {
    context_.status.change([](model::Snapshot& now) {
        if (now.phase == model::Phase::unconfigured) now.phase = model::Phase::enrolling;
    });
    auto api = kube::Api::create(context_.loop, copy_of(bootstrap_));
    if (!api) return retry_later(api.error());
    api_ = *std::move(api);
    order_ = std::make_unique<CertificateOrder>(
        context_, *api_, spec_for(options_.host),
        [this](Result<Credential> credential) { on_certificate(std::move(credential)); });
    order_->start();
}

void HostIdentity::on_certificate(Result<Credential> credential) {
    auto credentials = credential ? store_credentials(context_.store, kCredentialsFile, bootstrap_,
                                                      *std::move(credential))
                                  : std::unexpected(credential.error());
    order_.reset();
    api_.reset();
    if (!credentials) return retry_later(credentials.error());
    std::ignore = context_.store.remove(kKeyFile);
    bootstrap_ = {};
    is_refused_ = false;
    backoff_.reset();
    listener_.on_credentials(*std::move(credentials));
}

/// For ever: the server may come back, a new token or an approval may arrive, and a stored
/// certificate may become valid when the clock is set.
void HostIdentity::retry_later(const Error& why) {
    listener_.on_error(why);
    auto timer = context_.loop.after(backoff_.next(), [this] { is_refused_ ? enrol() : start(); });
    if (timer) retry_ = *std::move(timer);
}

}  // namespace kubexm::agent
