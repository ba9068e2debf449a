#include "daemon/agent/settings_reader.hpp"

#include "daemon/agent/orders.hpp"
#include "daemon/base/backoff.hpp"
#include "daemon/base/log.hpp"

namespace kubexm::agent {

namespace {

constexpr std::chrono::minutes kReadEvery{60};

}  // namespace

/// A host without a node reads its secret when it joins.
void SettingsReader::update() {
    const AgentState& state = context_.state.read();
    if (!state.host || !state.executor.observed) return;
    if (state.executor.observed->present_machines().empty()) return;
    const std::string orders = orders_hash(*state.host);
    const bool is_refused =
        state.credentials_problem.has_value() || (state.node && state.node->untrusted);
    const bool is_due = orders != orders_ || (is_refused && !was_refused_);
    orders_ = orders;
    was_refused_ = is_refused;
    if (is_due) read();
}

void SettingsReader::read() {
    timer_.reset();
    const auto& host = context_.state.read().host;
    if (!host || !host->bootstrap_secret || management_.api().api == nullptr) return;
    reader_ = std::make_unique<SecretReader>(context_, management_.api(), *host->bootstrap_secret,
                                             [this](const auto& material) {
                                                 if (!material) log::info(material.error().what);
                                                 read_later();
                                             });
    reader_->start();
}

/// With jitter: the hosts of a fleet must not read together.
void SettingsReader::read_later() {
    const auto jitter =
        std::chrono::duration_cast<std::chrono::milliseconds>(kReadEvery * (0.5 + random_jitter()));
    auto timer = context_.loop.after(jitter, [this] { read(); });
    if (timer) timer_ = *std::move(timer);
}

void SettingsReader::stop() {
    orders_.clear();
    reader_.reset();
    timer_.reset();
}

}  // namespace kubexm::agent
