#include "daemon/agent/join_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;
using model::CheckId;
using model::Finding;
using model::Severity;

// Kubernetes' signer issues certificates that are valid since five minutes.
constexpr auto kMostOffset = 5min;

}  // namespace

std::optional<Finding> clock_finding(std::chrono::seconds offset) {
    if (std::chrono::abs(offset) <= kMostOffset) return std::nullopt;
    return Finding{CheckId::clock, Severity::error,
                   fmt::format("this host's clock is {} s {} the API server's",
                               std::chrono::abs(offset).count(), offset > 0s ? "behind" : "before"),
                   "at most 300 s: certificates would not be valid here",
                   "set the clock: timedatectl set-ntp true, or chronyc makestep"};
}

JoinChecks::JoinChecks(AgentContext& context, model::JoinNeeds needs,
                       kube::ClusterCredentials credentials, Done done)
    : Activity(context, std::move(done)),
      needs_(std::move(needs)),
      credentials_(std::move(credentials)) {}

void JoinChecks::start() {
    ask_executor();
    ask_server();
    look_up_name();
}

void JoinChecks::ask_executor() {
    context().executor.ask(
        wire::Preflight{needs_}, {}, lifetime().guard([this](const Result<wire::Reply>& reply) {
            if (!reply) {
                note_refusal(context(), reply.error());
                return finish(std::unexpected(reply.error()));
            }
            const auto* result = std::get_if<wire::PreflightResult>(&*reply);
            if (result == nullptr) {
                return finish(fail(Code::internal, "preflight: unexpected reply"));
            }
            for (const Finding& each : result->findings) add(each);
            ignored_ = result->ignored;
            end_one();
        }));
}

void JoinChecks::ask_server() {
    auto api = context().connect(std::move(credentials_));
    if (!api) return finish(std::unexpected(api.error()));
    api_ = *std::move(api);
    call_ = api_->get("/version",
                      [this](const kube::Answer<nlohmann::json>& answer) { on_server(answer); });
}

/// Any response will do: whether it accepts the credentials is seen when they are needed.
void JoinChecks::on_server(const kube::Answer<nlohmann::json>& answer) {
    if (!answer && answer.error().status == 0) {
        const Error& error = answer.error().error;
        checked_.unreachable = std::unexpected(error);
        add({CheckId::api_server, Severity::error, error.what, "an answer of the API server",
             "check the network, the firewall and the address in the bootstrap secret"});
    }
    if (const auto offset = api_->clock_offset()) {
        if (auto finding = clock_finding(*offset)) add(*std::move(finding));
    }
    end_one();
}

void JoinChecks::look_up_name() {
    name_ = std::make_unique<NameCheck>(context(), needs_.node_name,
                                        [this](std::optional<Finding> finding) {
                                            if (finding) add(*std::move(finding));
                                            end_one();
                                        });
    name_->start();
}

void JoinChecks::add(Finding finding) { checked_.findings.push_back(std::move(finding)); }

bool JoinChecks::is_ignored(CheckId check) const {
    return std::ranges::find(ignored_, name_of(check)) != ignored_.end();
}

void JoinChecks::end_one() {
    if (--open_ > 0) return;
    std::erase_if(checked_.findings, [this](const Finding& each) { return is_ignored(each.id); });
    if (is_ignored(CheckId::api_server)) checked_.unreachable.reset();
    std::ranges::stable_sort(checked_.findings, {}, &Finding::id);
    finish(std::move(checked_));
}

}  // namespace kubexm::agent
