#include "daemon/agent/draining.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/log.hpp"
#include "daemon/kube/node.hpp"

namespace kubexm::agent {

namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLists = 1s;
constexpr int kMostPages = 100;    // of a server that never comes to an end
constexpr auto kForDeleted = 30s;  // Kubernetes' default for the end of a pod

std::string full_name(const kube::PodRecord& pod) { return pod.namespace_ + "/" + pod.name; }

std::vector<std::string> names_of(const std::vector<kube::PodRecord>& pods) {
    std::vector<std::string> names;
    names.reserve(pods.size());
    for (const kube::PodRecord& pod : pods) names.push_back(full_name(pod));
    return names;
}

}  // namespace

Draining::Draining(AgentContext& context, const JoinStrategy& strategy, std::string owner,
                   Done done)
    : Activity(context, std::move(done)), strategy_(strategy), owner_(std::move(owner)) {}

Draining::~Draining() {
    if (context().state.read().ending_pods.empty()) return;
    context().state.change([](AgentState& state) { state.ending_pods.clear(); });
}

void Draining::start() {
    auto loaded = strategy_.node_credentials(context(), owner_);
    if (!loaded) return give_up(loaded.error().what);
    std::optional<kube::ClusterCredentials>& credentials = *loaded;
    if (!credentials) return end("");  // there never was a Node
    auto api = context().connect(*std::move(credentials));
    if (!api) return give_up(api.error().what);
    api_ = *std::move(api);
    auto timer = context().loop.after(context().pods_timeout, [this] { is_late_ = true; });
    if (timer) deadline_ = *std::move(timer);
    list();
}

std::unique_ptr<kube::Api> Draining::take_connection() {
    call_.reset();
    return std::move(api_);
}

void Draining::list() {
    listed_.clear();
    pages_ = 0;
    list_page("");
}

void Draining::list_page(const std::string& page) {
    call_ = api_->get(kube::pods_path(context().facts().name, page),
                      [this](const kube::Answer<nlohmann::json>& answer) {
                          if (answer) return on_page(*answer);
                          // Once it has answered, an API server may restart meanwhile.
                          if (is_cordoned_ && !is_late_) return wait();
                          give_up(answer.error().error.what);
                      });
}

void Draining::on_page(const nlohmann::json& list) {
    const auto pods = kube::running_pods(list);
    listed_.insert(listed_.end(), pods.begin(), pods.end());
    const std::string next = kube::next_page(list);
    if (next.empty() || ++pages_ >= kMostPages) return on_pods(std::move(listed_));
    list_page(next);
}

void Draining::on_pods(std::vector<kube::PodRecord> pods) {
    std::erase_if(pods, [](const kube::PodRecord& pod) { return !pod.is_evictable; });
    context().state.change([&](AgentState& state) { state.ending_pods = names_of(pods); });
    if (pods.empty()) return end("");
    if (!has_running_kubelet()) return give_up("kubelet does not run");
    if (is_over_) return end(fmt::format("{} pods did not end in time", pods.size()));
    if (!is_cordoned_) return find_node();
    left_ = std::move(pods);
    std::erase_if(left_, [](const kube::PodRecord& pod) { return pod.is_deleted; });
    std::ranges::stable_partition(left_, [this](const kube::PodRecord& pod) {
        return silent_.contains(full_name(pod));  // the last ones to be asked
    });
    ask_next();
}

void Draining::find_node() {
    const std::string& name = context().facts().name;
    call_ = api_->get(kube::node_path(name), [this](const kube::Answer<nlohmann::json>& answer) {
        if (!answer) return give_up(answer.error().error.what);
        cordon(kube::node_from_json(*answer));
    });
}

void Draining::cordon(const model::NodeRecord& node) {
    if (node.machine_id != context().facts().machine_id) {
        return end("");  // the pods are another machine's
    }
    if (node.is_cordoned) return on_cordoned();  // by another user, or by an earlier try
    // Before the request, also for a process that is killed after it: a cordon of ours is taken
    // back where the release is cancelled.
    std::ignore = remember_anyway(context(), [&](Memory& memory) { memory.cordoned = node.uid; });
    crash_point("drain.cordon");
    call_ = api_->merge_patch(kube::node_path(context().facts().name), kube::cordon_patch(),
                              [this](const kube::Answer<nlohmann::json>& answer) {
                                  if (!answer) return give_up(answer.error().error.what);
                                  on_cordoned();
                              });
}

void Draining::on_cordoned() {
    is_cordoned_ = true;
    log::notice("the Node takes no new pods; evicting its pods");
    list();
}

void Draining::ask_next() {
    if (is_late_) expect_end();
    if (left_.empty() || is_over_) return wait();
    const kube::PodRecord& pod = left_.back();
    const auto answered = [this,
                           is_deletion = is_late_](const kube::Answer<nlohmann::json>& answer) {
        if (answer && is_deletion) deleted_.push_back(full_name(left_.back()));
        on_asked(answer);
    };
    crash_point("drain.evict");
    call_ = is_late_ ? api_->remove(kube::pod_path(pod), kube::only_this_pod(pod), answered)
                     : api_->post(kube::eviction_path(pod), kube::eviction_of(pod), answered);
}

/// A pod that is protected by a budget, or whose eviction fails for a while, is asked again in the
/// next round. One that is gone, or another one now, is not in the next list.
void Draining::on_asked(const kube::Answer<nlohmann::json>& answer) {
    const bool is_silent = !answer && answer.error().status == 0;
    if (is_silent) silent_.insert(full_name(left_.back()));
    left_.pop_back();
    if (!answer && answer.error().error.code == Code::denied) {
        return give_up(answer.error().error.what);
    }
    if (is_silent) return wait();  // each other pod would take as long: the next list decides
    ask_next();
}

/// From the first deletion on.
void Draining::expect_end() {
    if (std::exchange(is_deleting_, true)) return;
    auto last = context().loop.after(kForDeleted, [this] { is_over_ = true; });
    if (last) deadline_ = *std::move(last);
}

void Draining::wait() {
    crash_point("drain.wait");
    auto timer = context().loop.after(kBetweenLists, [this] { list(); });
    if (timer) timer_ = *std::move(timer);
}

/// The executor ends the remaining pods: SIGTERM, and the time that each pod asks for.
void Draining::give_up(const std::string& why) {
    end("its pods, if any, could not be evicted and ended without their preStop hooks: " + why);
}

void Draining::end(const std::string& note) {
    std::string all = note;
    if (!deleted_.empty()) {
        all += fmt::format("{}deleted against their disruption budgets: {}",
                           note.empty() ? "" : "; ", fmt::join(deleted_, ", "));
    }
    if (!all.empty()) log::warning(all);
    context().state.change([](AgentState& state) { state.ending_pods.clear(); });
    finish(std::move(all));
}

bool Draining::has_running_kubelet() const {
    return std::ranges::any_of(context().state.read().executor.units, [](const auto& unit) {
        return unit.name == "kubelet.service" && unit.active == "active";
    });
}

}  // namespace kubexm::agent
