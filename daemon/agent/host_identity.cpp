#include "daemon/agent/host_identity.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "daemon/agent/credentials.hpp"
#include "daemon/base/log.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

constexpr const char* kAccessFile = "management.kubeconfig";
constexpr std::string_view kNone = "none";  // kubexmd.service says so where root has put no file
constexpr const char* kPendingKey = "management.key";
constexpr std::chrono::hours kLifetime{365 * 24};  // as the provider's own agent asks for

std::chrono::sys_seconds now() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

CertificateOrder::CertificateSpec wish_for(const std::string& host) {
    return {.pending = kPendingKey,
            .subject = {"byoh:host:" + host, "byoh:hosts"},
            .signer = "kubernetes.io/kube-apiserver-client",
            .usages = {"client auth"},
            .name = [host](const pki::Key& key) { return pki::host_request_name(key, host); },
            .hint =
                "Is the token of the bootstrap kubeconfig still good? A new one goes to "
                "/etc/kubexm/bootstrap-kubeconfig; then restart kubexmd",
            .lifetime = kLifetime};
}

}  // namespace

HostIdentity::HostIdentity(AgentContext& context, Options options, Listener listener)
    : context_(context),
      options_(std::move(options)),
      listener_(std::move(listener)),
      backoff_(1s, 5min) {}

void HostIdentity::start() {
    auto kept = load_credentials(context_.store, kAccessFile, now());
    if (!kept) {
        log::warning("the kept identity cannot be used: " + kept.error().what);
        return enrol();
    }
    std::optional<kube::ClusterCredentials>& access = *kept;
    if (!access) return enrol();
    std::ignore = context_.store.remove(kPendingKey);  // for one who was killed before he could
    listener_.on_access(*std::move(access));
}

void HostIdentity::renew() {
    is_refused_ = true;
    enrol();
}

void HostIdentity::settle() {
    is_refused_ = false;
    retry_.reset();
    order_.reset();
}

void HostIdentity::enrol() {
    retry_.reset();
    auto access = bootstrap_access();
    // A credential that systemd did not give us does not come later.
    if (!access && access.error().code == Code::not_found) {
        return listener_.on_trouble(access.error());
    }
    if (!access) return try_again(access.error());
    bootstrap_ = *std::move(access);
    order();
}

Result<kube::ClusterCredentials> HostIdentity::bootstrap_access() const {
    std::ifstream file(options_.bootstrap_kubeconfig, std::ios::binary);
    Secret text(std::string(std::istreambuf_iterator<char>(file), {}));
    if (text.empty() || text.reveal() == kNone) {
        return fail(Code::not_found,
                    "there is no bootstrap kubeconfig: put it to /etc/kubexm/bootstrap-kubeconfig "
                    "(for root only) and restart kubexmd");
    }
    auto access = kube::access_from_kubeconfig(text.reveal());
    if (!access) return during("bootstrap kubeconfig", access.error());
    return access;
}

void HostIdentity::order() {
    context_.status.change([](model::Snapshot& now) {
        if (now.phase == model::Phase::unconfigured) now.phase = model::Phase::enrolling;
    });
    auto api = kube::Api::create(context_.loop, copy_of(bootstrap_));
    if (!api) return try_again(api.error());
    api_ = *std::move(api);
    order_ = std::make_unique<CertificateOrder>(
        context_, *api_, wish_for(options_.host),
        [this](Result<Credential> credential) { on_certificate(std::move(credential)); });
    order_->start();
}

void HostIdentity::on_certificate(Result<Credential> credential) {
    auto access = credential ? store_credentials(context_.store, kAccessFile, bootstrap_,
                                                 *std::move(credential))
                             : std::unexpected(credential.error());
    order_.reset();
    api_.reset();
    if (!access) return try_again(access.error());
    std::ignore = context_.store.remove(kPendingKey);
    bootstrap_ = {};
    is_refused_ = false;
    backoff_.reset();
    listener_.on_access(*std::move(access));
}

/// For ever: a server comes back, a token is made anew, a person approves, and what is kept but
/// could not be read, or was too old by a wrong clock, may be good after all.
void HostIdentity::try_again(const Error& why) {
    listener_.on_trouble(why);
    auto timer = context_.loop.after(backoff_.next(), [this] { is_refused_ ? enrol() : start(); });
    if (timer) retry_ = *std::move(timer);
}

}  // namespace kubexm::agent
