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
      asked_(context.state.read().renewals_asked),
      backoff_(2s, 5min) {}

CertificateKeeper::~CertificateKeeper() { report(std::nullopt); }

void CertificateKeeper::start() { wait(); }

/// A person may have asked for a renewal.
void CertificateKeeper::update() {
    const std::uint32_t asked = context_.state.read().renewals_asked;
    if (std::exchange(asked_, asked) == asked || renewal_) return;
    asked_by_ = context_.state.read().renewal_asked_by;
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
    report(std::nullopt);
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
    report(Error{Code::unavailable,
                 fmt::format("certificate request {} is not approved yet", waiting->second.name)});
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
                            view_of(identity_.name, present_).not_after));
    report(std::nullopt);
    wait();
}

void CertificateKeeper::retry_later(const Error& why) {
    log::warning(
        fmt::format("certificate {}: {}; it is requested again", identity_.name, why.what));
    report(why);
    try_in(backoff_.next(context_.random()));
}

void CertificateKeeper::report(std::optional<Error> problem) {
    const auto& known = context_.state.read().renewals;
    if (!problem) {
        if (!known.contains(identity_.name)) return;
        return context_.state.change(
            [&](AgentState& state) { state.renewals.erase(identity_.name); });
    }
    const auto certificate = pki::read_certificate(present_.certificate);
    const double left = certificate ? pki::life_left(*certificate, server_time()) : 0;
    context_.state.change([&](AgentState& state) {
        state.renewals[identity_.name] = {*std::move(problem), left, {}};
        if (certificate) state.renewals[identity_.name].not_after = certificate->not_after;
    });
}

}  // namespace kubexm::agent
