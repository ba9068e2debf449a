#include "daemon/agent/certificate_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/agent/rejected_request.hpp"
#include "daemon/base/crash_point.hpp"
#include "daemon/base/log.hpp"
#include "daemon/base/try.hpp"
#include "daemon/kube/signing.hpp"
#include "daemon/pki/certificate.hpp"

namespace kubexm::agent {

namespace {

/// The key of an earlier try, so that its request is found again; else a new one, also where the
/// file holds no key, or the one in use: a kill came before it was removed.
Result<pki::Key> stored_or_new_key(const CredentialStore& store, const std::string& name,
                                   const std::string& used_key) {
    const std::optional<Secret> stored = TRY(store.read(name));
    if (stored) {
        auto key = pki::Key::from_pem(stored->reveal());
        if (key && key->public_key() != used_key) return key;
    }
    pki::Key key = TRY(pki::Key::generate());
    const Secret pem = TRY(key.pem());
    TRY(store.write(name, pem));
    return key;
}

bool has_same(std::vector<std::string> a, std::vector<std::string> b) {
    std::ranges::sort(a);
    std::ranges::sort(b);
    return a == b;
}

}  // namespace

CertificateOrder::CertificateOrder(AgentContext& context, kube::Api& api, Spec spec, Done done)
    : Activity(context, std::move(done)), api_(api), spec_(std::move(spec)) {}

CertificateOrder::~CertificateOrder() {
    if (!context().state.read().requests.contains(spec_.identity)) return;
    context().state.change([&](AgentState& state) { state.requests.erase(spec_.identity); });
}

void CertificateOrder::start() {
    if (auto why = rejection_of(context(), spec_.key_file)) return finish(std::unexpected(*why));
    auto key = stored_or_new_key(context().store, spec_.key_file, spec_.used_key);
    if (!key) return finish(std::unexpected(key.error()));
    key_ = std::make_unique<pki::Key>(*std::move(key));
    post();
}

void CertificateOrder::post() {
    auto request = pki::make_request(*key_, spec_.subject);
    if (!request) return finish(std::unexpected(request.error()));
    const kube::SigningRequest order{spec_.name(*key_), spec_.signer, *request, spec_.usages,
                                     spec_.lifetime};
    call_ = api_.post(kube::kSigningPath, to_json(order),
                      [this](const kube::Answer<nlohmann::json>& answer) {
                          crash_point("csr.posted");
                          // The name is the key's: most likely the request of an earlier try.
                          if (answer) return await_approval(*answer);
                          const bool is_posted = answer.error().error.code == Code::conflict;
                          if (is_posted) return await_approval({});
                          refuse(answer.error());
                      });
}

void CertificateOrder::refuse(const kube::Failure& failure) {
    Error error = failure.error;
    if (failure.status == kube::HttpStatus::unauthorized) error.what += ". " + spec_.hint;
    finish(std::unexpected(std::move(error)));
}

/// `posted` is null where the request was posted before.
void CertificateOrder::await_approval(const nlohmann::json& posted) {
    const std::string name = spec_.name(*key_);
    log::info(fmt::format("{}: certificate request {} is not approved yet", api_.server(), name));
    context().state.change(
        [&](AgentState& state) { state.requests[spec_.identity] = {api_.server(), name}; });
    watch_ = std::make_unique<kube::Watch>(
        context().loop, api_, context().random, kube::kSigningPath, name,
        kube::Watch::Listener{[this](const nlohmann::json& object) { on_request(object); },
                              [this](const kube::Answer<void>& answer) { on_watched(answer); }});
    if (posted.is_null()) return watch_->start();
    watch_->start_after(posted);
}

/// A denied watch would wait for ever; the watch retries after other errors.
void CertificateOrder::on_watched(const kube::Answer<void>& answer) {
    if (!answer && answer.error().error.code == Code::denied) refuse(answer.error());
}

void CertificateOrder::on_request(const nlohmann::json& object) {
    if (object.is_null()) return on_absent();
    if (!is_ours(object)) return on_squatted();
    auto certificate = kube::issued_certificate(object);
    if (!certificate) {
        return finish(std::unexpected(reject(context(), spec_.key_file, certificate.error())));
    }
    if (!certificate->empty()) on_issued(*certificate);
}

bool CertificateOrder::is_ours(const nlohmann::json& object) const {
    const kube::SigningRequest found = kube::signing_request_from_json(object);
    const auto request = pki::read_request(found.request);
    return request && request->public_key == key_->public_key() &&
           request->subject == spec_.subject && request->has_only_subject &&
           found.signer == spec_.signer && has_same(found.usages, spec_.usages);
}

/// Another key leads to a name that nobody could know.
void CertificateOrder::on_squatted() {
    const std::string what = fmt::format(
        "certificate request {} is not the one of this host: expected its key, subject, signer and "
        "usages; suspected squatting of its name",
        spec_.name(*key_));
    log::warning(fmt::format("{}: {}; another key is used", api_.server(), what));
    std::ignore = context().store.remove(spec_.key_file);
    if (std::exchange(is_squatted_, true)) return finish(fail(Code::conflict, what));
    // Posted: the watch must not be destroyed in its own callback.
    context().loop.post(lifetime().guard([this] {
        watch_.reset();
        start();
    }));
}

/// The request was deleted, perhaps before it was first seen: post it once more.
void CertificateOrder::on_absent() {
    if (is_posted_again_) {
        return finish(
            fail(Code::unavailable, "certificate request was deleted before it was signed"));
    }
    is_posted_again_ = true;
    // Posted: the watch must not be destroyed in its own callback.
    context().loop.post(lifetime().guard([this] {
        watch_.reset();
        post();
    }));
}

void CertificateOrder::on_issued(const std::string& certificate) {
    // The signer and the servers judge by their own clock.
    const auto now = context().state.now() + api_.clock_offset().value_or(std::chrono::seconds(0));
    auto read = pki::read_certificate(certificate);
    auto valid = read ? check_issued(*read, *key_, spec_.subject, now)
                      : Result<>(std::unexpected(read.error()));
    if (!valid) {
        const auto why = during("issued certificate", valid.error()).error();
        // One that is not valid yet is used later, with its key.
        if (read && read->not_before > now) return finish(std::unexpected(why));
        return finish(std::unexpected(reject(context(), spec_.key_file, why)));
    }
    forget_rejection(context(), spec_.key_file);
    auto key = key_->pem();
    if (!key) return finish(std::unexpected(key.error()));
    finish(Credential{certificate, *std::move(key)});
}

}  // namespace kubexm::agent
