#include "daemon/agent/facts_reporter.hpp"

#include <nlohmann/json.hpp>

#include "daemon/base/log.hpp"
#include "daemon/kube/byohost.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

bool may_write_facts(const AgentState& state) {
    return state.management.reachable && state.host && !state.host->paused;
}

}  // namespace

FactsReporter::FactsReporter(AgentContext& context, kube::Api& api, model::HostFacts written)
    : context_(context), api_(api), written_(std::move(written)), backoff_(1s, 5min) {}

/// Compares in the form of the ByoHost: a difference that it cannot show is none.
void FactsReporter::update() {
    const model::HostFacts& now = context_.facts();
    if (now == written_ || writing_ || retry_ || !may_write_facts(context_.state.read())) return;
    if (const auto patch = kube::capacity_patch(now); patch != kube::capacity_patch(written_)) {
        model::HostFacts next = written_;
        next.cpus = now.cpus;
        next.memory_bytes = now.memory_bytes;
        return write(kube::host_path(context_.namespace_, now.name), patch, std::move(next));
    }
    if (const auto patch = kube::facts_patch(now); patch != kube::facts_patch(written_)) {
        write(kube::host_status_path(context_.namespace_, now.name), patch, now);
    }
}

void FactsReporter::write(std::string path, const nlohmann::json& patch, model::HostFacts next) {
    writing_ = true;
    call_ = api_.merge_patch(std::move(path), patch,
                             [this, next = std::move(next)](const Answer& answer) {
                                 writing_ = false;
                                 if (!answer) return on_failure(answer.error());
                                 backoff_.reset();
                                 written_ = next;
                                 update();
                             });
}

void FactsReporter::on_failure(const kube::Failure& failure) {
    log::warning("cannot write the facts to the ByoHost: " + failure.error.what);
    auto timer = context_.loop.after(backoff_.next(failure, context_.random()), [this] {
        retry_.reset();
        update();
    });
    if (timer) retry_ = *std::move(timer);
}

}  // namespace kubexm::agent
