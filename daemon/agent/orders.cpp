#include "daemon/agent/orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "daemon/agent/conditions.hpp"
#include "daemon/agent/decide.hpp"
#include "daemon/agent/state.hpp"
#include "daemon/base/digest.hpp"
#include "daemon/model/plan_codec.hpp"

namespace kubexm::agent {

namespace {

using model::NodeJoin;

/// The label is "<namespace>.<name>" of the ByoMachine, cut to the length of a label.
bool names_machine(const std::string& label, const model::Reference& machine) {
    constexpr std::size_t kMaxLabel = 63;
    const std::string name = machine.namespace_ + "." + machine.name;
    return label == name.substr(0, kMaxLabel) || label == machine.name;
}

std::optional<std::string> if_set(const std::string& text) {
    if (text.empty()) return std::nullopt;
    return text;
}

/// Whether a machine is the owner of the node on this host, or about to adopt it.
bool is_for_node(const std::string& machine, const Memory& memory, const std::string& present) {
    const bool adopts =
        machine == memory.adopted || (memory.joined && memory.joined->owner == machine);
    return machine == present || adopts;
}

/// The remembered join of an owner whose node is on this host.
const JoinedMachine* known_join(const AgentState& state, const std::string& owner) {
    const auto& joined = state.memory.joined;
    const bool is_present = state.executor.observed && state.executor.observed->is_joined(owner);
    return is_present && joined && joined->owner == owner ? &*joined : nullptr;
}

/// Those of an earlier machine's secret do not count; null: none.
const ClusterSettings* settings_for(const AgentState& state, const model::HostRecord& host) {
    const bool are_known = state.settings && host.bootstrap_secret == state.settings->secret;
    return are_known ? &*state.settings : nullptr;
}

Result<NodeJoin> with_settings(const AgentState& state, const model::HostRecord& host,
                               const ClusterSettings& settings, const std::string& owner) {
    const JoinedMachine* joined = known_join(state, owner);
    std::uint32_t minor = joined == nullptr ? 0 : joined->wanted.minor;
    if (joined == nullptr) minor = TRY(minor_of(host.version));
    return NodeJoin{.owner = owner,
                    .node_name = state.facts.name,
                    .provider_id = provider_id_of(state.facts.name),
                    .server = settings.server,
                    .server_name = if_set(settings.server_name),
                    .minor = minor,
                    .ca_digest = sha256(settings.ca),
                    .client_ca_digest = "",
                    .client_digest = "",
                    .serving_digest = "",
                    .kubelet = settings.kubelet,
                    .labels = host.labels,
                    .taints = host.taints};
}

}  // namespace

bool is_older(const std::string& version, const std::string& than) {
    if (version.empty() || than.empty()) return false;
    if (version.size() != than.size()) return version.size() < than.size();
    return version < than;
}

std::string orders_hash(const model::HostRecord& host) {
    const auto name = [](const std::optional<model::Reference>& reference) {
        return reference ? codec::encode(*reference).dump() : std::string();
    };
    return sha256(fmt::format(
        "{}\n{}\n{}\n{}\n{}\n{}", name(host.machine), name(host.bootstrap_secret), host.join_mode,
        host.version, codec::encode(host.labels).dump(), codec::encode(host.taints).dump()));
}

std::string contradiction(const model::HostRecord& host, const Memory& memory,
                          const std::string& present_owner) {
    if (present_owner.empty()) return "";
    if (host.machine && !is_for_node(owner_of(*host.machine), memory, present_owner)) {
        return fmt::format(
            "ByoHost asks for the release of machine {} with uid {}, but this host "
            "is a node of {}",
            host.machine->name, host.machine->uid, present_owner);
    }
    if (!memory.joined || memory.joined->owner != present_owner) return "";
    const JoinedMachine& joined = *memory.joined;
    const bool is_named = host.machine.has_value();
    const std::string& label = host.machine_name;
    if (!is_named && !label.empty() && !names_machine(label, joined.machine)) {
        return fmt::format(
            "ByoHost asks for the release of machine {}, but this host is a node of "
            "machine {}",
            label, joined.machine.name);
    }
    const bool is_same_host = host.uid == joined.host_uid;
    if (!is_named && !is_same_host) {
        return fmt::format(
            "a ByoHost with uid {} asks for a release, but this host was joined by "
            "the one with uid {}",
            host.uid, joined.host_uid);
    }
    if (is_same_host && is_older(host.resource_version, joined.resource_version)) {
        return fmt::format(
            "the release order has resourceVersion {}, which is older than the join "
            "({}): the management cluster was restored from a backup",
            host.resource_version, joined.resource_version);
    }
    if (memory.stale_release == present_owner) {
        return "this release order was not for the node on this host when it came, and was not "
               "withdrawn since";
    }
    return "";
}

bool is_moved(const AgentState& state, const std::string& present_owner) {
    const JoinedMachine* joined = known_join(state, present_owner);
    if (joined == nullptr || !state.host || !state.host->machine) return false;
    const model::HostRecord& host = *state.host;
    const model::Reference& machine = *state.host->machine;
    const ClusterSettings* settings = settings_for(state, host);
    if (settings == nullptr) return false;
    const bool is_elsewhere =
        host.uid != joined->host_uid || state.management.server != joined->management;
    return is_elsewhere && machine.name == joined->machine.name &&
           machine.namespace_ == joined->machine.namespace_ &&
           settings->server == joined->wanted.server &&
           sha256(settings->ca) == joined->wanted.ca_digest;
}

bool is_active(const Pause& pause, std::chrono::sys_seconds now) {
    return pause.until == 0 || now.time_since_epoch().count() < pause.until;
}

std::string pause_text(const Pause& pause) {
    const auto time = [](std::int64_t seconds) {
        return rfc3339(std::chrono::sys_seconds(std::chrono::seconds(seconds)));
    };
    return fmt::format("user {} paused this host at {}, until {}", pause.uid, time(pause.since),
                       pause.until == 0 ? "kubexmctl resume" : time(pause.until));
}

void overlook_release(JoinedMachine& joined, const std::optional<ExecutorState>& observed) {
    joined.overlooks_release = !observed;
    if (!observed) return;
    const wire::Outcome* last = observed->newest(joined.owner);
    const bool is_release = last != nullptr && last->purpose == model::PlanPurpose::release;
    joined.past_release = is_release ? last->plan_id : "";
}

std::string provider_id_of(const std::string& host) { return "byoh://" + host; }

Result<std::uint32_t> minor_of(const std::string& version) {
    constexpr std::string_view kMajor = "v1.";
    std::uint32_t minor = 0;
    const char* const first = version.data() + std::min(version.size(), kMajor.size());
    const auto read = std::from_chars(first, version.data() + version.size(), minor);
    if (version.starts_with(kMajor) && read.ec == std::errc()) return minor;
    return fail(
        Code::invalid,
        fmt::format(
            "annotation k8sversion of the ByoHost: expected a version such as v1.34.1, found "
            "\"{:.32}\"; set spec.version of the Machine",
            version));
}

std::optional<Result<NodeJoin>> wanted_join(const AgentState& state) {
    if (!state.host || !state.host->machine) return std::nullopt;
    const std::string owner = owner_of(*state.host->machine);
    if (const ClusterSettings* settings = settings_for(state, *state.host)) {
        return with_settings(state, *state.host, *settings, owner);
    }
    const JoinedMachine* joined = known_join(state, owner);
    if (joined == nullptr) return std::nullopt;
    NodeJoin wanted = joined->wanted;
    wanted.labels = state.host->labels;
    wanted.taints = state.host->taints;
    return wanted;
}

}  // namespace kubexm::agent
