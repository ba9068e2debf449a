#include "daemon/agent/settings_reader.hpp"

#include "daemon/base/log.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

constexpr auto kReadEvery = 60min;
constexpr auto kBetweenChanges = 5s;

/// With jitter: the hosts of a fleet must not read together.
std::chrono::milliseconds about_hourly(double jitter) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(kReadEvery * (0.5 + jitter));
}

}  // namespace

/// A host without a node reads its secret when it joins.
void SettingsReader::update() {
    const AgentState& state = context_.state.read();
    if (!state.host || !state.executor.observed) return;
    if (state.executor.observed->present_machines().empty()) return;
    const bool is_refused =
        state.credentials_problem.has_value() || (state.node && state.node->untrusted);
    const bool was_refused = std::exchange(is_refused_, is_refused);
    const std::string known = std::exchange(known_, state.host->others);
    if (known != known_ || (is_refused && !was_refused)) read_soon();
}

void SettingsReader::read_soon() {
    const auto since = context_.state.now() - last_;
    if (since < 0s || since >= kBetweenChanges) return read();
    if (soon_) return;
    auto timer = context_.loop.after(kBetweenChanges - since, [this] { read(); });
    if (timer) soon_ = *std::move(timer);
}

void SettingsReader::read() {
    soon_.reset();
    next_.reset();
    const auto& host = context_.state.read().host;
    if (!host || !host->bootstrap_secret || management_.api().api == nullptr) return;
    last_ = context_.state.now();
    reader_ = std::make_unique<SecretReader>(context_, management_.api(), *host->bootstrap_secret,
                                             [this](const auto& material) { on_read(material); });
    reader_->start();
}

/// The reader has buffers with the secret's token: it ends here.
void SettingsReader::on_read(const Result<kube::BootstrapMaterial>& material) {
    reader_.reset();
    if (!material) log::info(material.error().what);
    // A secret may be deleted after the join: that is no failure.
    const bool is_answered = material || material.error().code == Code::not_found;
    const bool is_well = is_answered && !is_refused_;
    if (is_well) backoff_.reset();
    const double jitter = context_.random();
    auto timer = context_.loop.after(is_well ? about_hourly(jitter) : backoff_.next(jitter),
                                     [this] { read(); });
    if (timer) next_ = *std::move(timer);
}

void SettingsReader::stop() {
    known_.clear();
    reader_.reset();
    soon_.reset();
    next_.reset();
}

}  // namespace kubexm::agent
