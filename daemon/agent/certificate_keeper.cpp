#include "daemon/agent/certificate_keeper.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/agent/credentials.hpp"
#include "daemon/agent/rejected_request.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/try.hpp"
#include "daemon/pki/renewal.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

// Not shorter: a signer whose certificates begin in the past must not be asked all the time. Not
// longer: the clock may be set.
constexpr std::chrono::seconds kShortestWait = 60s;
constexpr std::chrono::seconds kLongestWait = 1h;

}  // namespace

CertificateKeeper::CertificateKeeper(AgentContext& context, Identity identity,
                                     kube::ClusterCredentials present)
    : context_(context),
      identity_(std::move(identity)),
      present_(std::move(present)),
      asked_(asked().count),
      backoff_(2s, 5min) {}

CertificateKeeper::~CertificateKeeper() { report_none(); }

void CertificateKeeper::start() { wait(); }

AskedRenewal CertificateKeeper::asked() const {
    const auto& orders = context_.state.read().asked_renewals;
    const auto order = orders.find(identity_.name);
    return order == orders.end() ? AskedRenewal() : order->second;
}

/// A person may have asked for a renewal.
void CertificateKeeper::update() {
    const AskedRenewal order = asked();
    if (std::exchange(asked_, order.count) == order.count || renewal_) return;
    asked_by_ = order.uid;
    forget_rejection(context_, identity_.order.spec.key_file);
    renew();
}

/// The signer and the API server judge by their own clock.
std::chrono::sys_seconds CertificateKeeper::server_time() const {
    return context_.state.now() + identity_.clock_offset().value_or(0s);
}

std::chrono::seconds CertificateKeeper::until_renewal() const {
    const auto certificate = pki::read_certificate(present_.certificate);
    if (!certificate) return kLongestWait;  // it was read when it was loaded
    return pki::renewal_time(*certificate, context_.facts().machine_id) - server_time();
}

void CertificateKeeper::wait() { try_in(std::clamp(until_renewal(), kShortestWait, kLongestWait)); }

void CertificateKeeper::try_in(std::chrono::milliseconds time) {
    auto timer = context_.loop.after(time, [this] { on_time(); });
    if (timer) timer_ = *std::move(timer);
}

/// Judged only now: this host's clock may have been set, or the server's has become known.
void CertificateKeeper::on_time() {
    if (asked_by_ || until_renewal() <= 0s) return renew();
    report_none();
    wait();
}

void CertificateKeeper::renew() {
    timer_.reset();
    renewal_ =
        std::make_unique<CertificateRenewal>(context_, identity_.order, copy_of(present_),
                                             [this](Result<kube::ClusterCredentials> credentials) {
                                                 on_renewed(std::move(credentials));
                                             });
    renewal_->start();
    await_renewal();
}

/// It may wait for its approval until the certificate ends.
void CertificateKeeper::await_renewal() {
    const auto certificate = pki::read_certificate(present_.certificate);
    const auto left = certificate ? certificate->not_after - server_time() : kLongestWait;
    auto timer = context_.loop.after(
        std::clamp<std::chrono::seconds>(left / 20, kShortestWait, kLongestWait), [this] {
            report_waiting();
            await_renewal();
        });
    if (timer) timer_ = *std::move(timer);
}

void CertificateKeeper::report_waiting() {
    const auto& requests = context_.state.read().requests;
    const auto waiting = requests.find(identity_.order.spec.identity);
    if (waiting == requests.end()) return;
    report({Code::unavailable,
            fmt::format("certificate request {} is not approved yet", waiting->second.name)},
           std::nullopt);
}

void CertificateKeeper::on_renewed(Result<kube::ClusterCredentials> credentials) {
    renewal_.reset();
    if (!credentials) return retry_later(credentials.error());
    if (auto used = identity_.use(*credentials); !used) return retry_later(used.error());
    std::ignore = context_.store.remove(identity_.order.spec.key_file);
    present_ = *std::move(credentials);
    asked_by_.reset();
    backoff_.reset();
    log::notice(fmt::format("certificate {} was renewed; it is valid until {}", identity_.name,
                            view_of(identity_.name, present_, context_.facts()).not_after));
    report_none();
    wait();
}

void CertificateKeeper::retry_later(const Error& why) {
    log::warning(
        fmt::format("certificate {}: {}; it is requested again", identity_.name, why.what));
    const auto wait = std::chrono::ceil<std::chrono::seconds>(backoff_.next(context_.random()));
    report(why, context_.state.now() + wait);
    try_in(wait);
}

void CertificateKeeper::report_none() {
    if (!context_.state.read().renewals.contains(identity_.name)) return;
    context_.state.change([&](AgentState& state) { state.renewals.erase(identity_.name); });
}

void CertificateKeeper::report(const Error& problem,
                               std::optional<std::chrono::sys_seconds> next_try) {
    const auto certificate = pki::read_certificate(present_.certificate);
    const double left = certificate ? pki::life_left(*certificate, server_time()) : 0;
    context_.state.change([&](AgentState& state) {
        state.renewals[identity_.name] = {problem, left, {}, next_try};
        if (certificate) state.renewals[identity_.name].not_after = certificate->not_after;
    });
}

}  // namespace kubexm::agent
