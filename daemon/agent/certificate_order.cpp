#include "daemon/agent/certificate_order.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daemon/agent/conditions.hpp"
#include "daemon/base/crash_point.hpp"
#include "daemon/base/log.hpp"
#include "daemon/kube/signing.hpp"
#include "daemon/pki/certificate.hpp"

namespace kubexm::agent {

namespace {

constexpr int kUnauthorized = 401;

/// Kept from the last try, so that its request is found again; a new one where there is none, or
/// where what is there is no key.
Result<pki::Key> kept_or_new_key(const CredentialStore& store, const std::string& name) {
    auto kept = store.read(name);
    if (!kept) return std::unexpected(kept.error());
    if (const std::optional<Secret>& pem = *kept; pem) {
        if (auto key = pki::Key::from_pem(pem->reveal())) return key;
    }
    auto key = pki::Key::generate();
    if (!key) return key;
    auto pem = key->pem();
    if (!pem) return std::unexpected(pem.error());
    if (auto written = store.write(name, *pem); !written) return std::unexpected(written.error());
    return key;
}

}  // namespace

CertificateOrder::CertificateOrder(AgentContext& context, kube::Api& api, CertificateSpec wish,
                                   Done done)
    : context_(context), api_(api), wish_(std::move(wish)), done_(std::move(done)) {}

CertificateOrder::~CertificateOrder() { context_.status.drop(kCertificateIssued); }

void CertificateOrder::start() {
    auto key = kept_or_new_key(context_.store, wish_.pending);
    if (!key) return finish(std::unexpected(key.error()));
    key_ = std::make_unique<pki::Key>(*std::move(key));
    post();
}

void CertificateOrder::post() {
    auto request = pki::make_request(*key_, wish_.subject);
    if (!request) return finish(std::unexpected(request.error()));
    const kube::SigningRequest order{wish_.name(*key_), wish_.signer, *request, wish_.usages,
                                     wish_.lifetime};
    call_ = api_.post(kube::kSigningPath, to_json(order),
                      [this](const kube::Answer<nlohmann::json>& answer) {
                          crash_point("csr.posted");
                          // A conflict is our own request of an earlier try: the name is the key's.
                          if (answer || answer.error().error.code == Code::conflict) return await();
                          refuse(answer.error());
                      });
}

void CertificateOrder::refuse(const kube::Failure& failure) {
    Error error = failure.error;
    if (failure.status == kUnauthorized) error.what += ". " + wish_.hint;
    finish(std::unexpected(std::move(error)));
}

void CertificateOrder::await() {
    const std::string name = wish_.name(*key_);
    const std::string waiting =
        fmt::format("certificate request {} waits for approval at {}", name, api_.server());
    log::info(waiting);
    context_.status.set(
        is_false(kCertificateIssued, "Info", "WaitingForApproval",
                 fmt::format("{}. If nobody does: kubectl certificate approve {}", waiting, name)));
    watch_ = std::make_unique<kube::Watch>(
        context_.loop, api_, kube::kSigningPath, name,
        kube::Watch::Listener{[this](const nlohmann::json& object) { on_request(object); },
                              [this](const kube::Answer<void>& answer) { on_watched(answer); }});
    watch_->start();
}

/// Whoever is not let in any more would wait for ever. Other trouble passes.
void CertificateOrder::on_watched(const kube::Answer<void>& answer) {
    if (!answer && answer.error().error.code == Code::denied) refuse(answer.error());
}

void CertificateOrder::on_request(const nlohmann::json& object) {
    if (object.is_null()) {
        if (!seen_) return;
        return finish(fail(Code::unavailable,
                           "the certificate request was deleted before it was "
                           "answered"));
    }
    seen_ = true;
    auto certificate = kube::issued_certificate(object);
    if (!certificate) {
        // Asked for with another key next time: a name that was denied stays denied.
        std::ignore = context_.store.remove(wish_.pending);
        return finish(std::unexpected(certificate.error()));
    }
    if (!certificate->empty()) on_issued(*certificate);
}

void CertificateOrder::on_issued(const std::string& certificate) {
    using std::chrono::floor;
    const auto now = floor<std::chrono::seconds>(std::chrono::system_clock::now());
    auto read = pki::read_certificate(certificate);
    auto good = read ? check_issued(*read, *key_, wish_.subject, now)
                     : Result<>(std::unexpected(read.error()));
    if (!good) {
        // What is only too early is found again when this host's clock is right.
        if (!read || read->not_before <= now) std::ignore = context_.store.remove(wish_.pending);
        return finish(during("the certificate that was issued", good.error()));
    }
    auto key = key_->pem();
    if (!key) return finish(std::unexpected(key.error()));
    finish(Credential{certificate, *std::move(key)});
}

/// Told from outside of our own callbacks: whoever is told may drop us.
void CertificateOrder::finish(Result<Credential> outcome) {
    watch_.reset();
    context_.loop.post(lifetime_.guard(
        [this, outcome = std::move(outcome)]() mutable { done_(std::move(outcome)); }));
}

}  // namespace kubexm::agent
