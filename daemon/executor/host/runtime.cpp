#include "daemon/executor/host/runtime.hpp"

#include <algorithm>
#include <charconv>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/grpc.hpp"
#include "daemon/executor/host/protobuf.hpp"

// https://github.com/kubernetes/cri-api/blob/master/pkg/apis/runtime/v1/api.proto

namespace kubexm::executor {

namespace {

constexpr const char* kSocket = "/run/containerd/containerd.sock";
constexpr std::chrono::seconds kDefaultGrace{30};
constexpr std::uint32_t kItems = 1;         // of ListPodSandboxResponse and ListContainersResponse
constexpr std::uint32_t kId = 1;            // of PodSandbox and Container
constexpr std::uint32_t kPodSandboxId = 1;  // of StopPodSandboxRequest and RemovePodSandboxRequest

Result<std::string> call(const std::string& method, const std::string& message,
                         RuntimeDeadline deadline) {
    return grpc::call(kSocket, "runtime.v1.RuntimeService/" + method, message, deadline);
}

bool is_id(std::string_view text) { return text.size() <= 128 && made_of(text, is_alphanumeric); }

/// Sends all requests at once. An absent object is no error; of other errors the first is returned.
Result<> end_all(const std::string& method, const std::vector<std::string>& messages,
                 RuntimeDeadline deadline) {
    const auto replies =
        grpc::call_all(kSocket, "runtime.v1.RuntimeService/" + method, messages, deadline);
    for (const auto& reply : replies) {
        if (!reply && reply.error().code != Code::not_found) return std::unexpected(reply.error());
    }
    return {};
}

/// containerd's own API, in the namespace of Kubernetes.
Result<> lease_call(const std::string& method, const std::string& message,
                    RuntimeDeadline deadline) {
    TRY(grpc::call(kSocket, "containerd.services.leases.v1.Leases/" + method, message, deadline,
                   {{"containerd-namespace", "k8s.io"}}));
    return {};
}

std::chrono::seconds seconds_in(std::string_view text) {
    std::chrono::seconds::rep seconds = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (read.ec == std::errc::result_out_of_range) return kMostGrace;
    if (read.ec != std::errc{} || seconds < 0) return kDefaultGrace;
    return std::min(std::chrono::seconds(seconds), kMostGrace);
}

/// As kubelet noted it; a container without the note gets Kubernetes' default.
Result<std::chrono::seconds> grace_in(const std::vector<std::string_view>& annotations) {
    constexpr std::uint32_t kKey = 1;
    constexpr std::uint32_t kValue = 2;
    for (const std::string_view entry : annotations) {
        const auto key = TRY(protobuf::last_field(entry, kKey));
        if (key != "io.kubernetes.pod.terminationGracePeriod") continue;
        const auto value = TRY(protobuf::last_field(entry, kValue));
        return seconds_in(value);
    }
    return kDefaultGrace;
}

}  // namespace

/// Only the synchronous deletion of a lease runs the garbage collection and waits for its end.
Result<> clear_store(RuntimeDeadline deadline) {
    constexpr std::uint32_t kLeaseId = 1;  // of CreateRequest and DeleteRequest
    constexpr std::uint32_t kSync = 2;     // of DeleteRequest
    const std::string lease = protobuf::field(kLeaseId, "kubexm-release");
    auto made = lease_call("Create", lease, deadline);
    // conflict: left over by an interrupted run.
    if (!made && made.error().code != Code::conflict) return made;
    return lease_call("Delete", lease + protobuf::number_field(kSync, 1), deadline);
}

Result<std::vector<std::string>> pods_in(std::string_view response) {
    auto items = protobuf::fields(response, kItems);
    if (!items) return during("ListPodSandbox response", items.error());
    std::vector<std::string> ids;
    for (const std::string_view item : *items) {
        auto id = protobuf::last_field(item, kId);
        if (!id) return during("pod in a ListPodSandbox response", id.error());
        if (!is_id(*id)) {
            return fail(Code::invalid, "pod id: expected at most 128 letters and digits");
        }
        ids.emplace_back(*id);
    }
    std::ranges::sort(ids);
    return ids;
}

Result<std::vector<std::string>> list_pods(RuntimeDeadline deadline) {
    const auto response = TRY(call("ListPodSandbox", "", deadline));
    return pods_in(response);
}

Result<bool> runtime_answers(RuntimeDeadline deadline) {
    constexpr std::chrono::seconds kPatience{20};
    const auto pods = list_pods(std::min(deadline, std::chrono::steady_clock::now() + kPatience));
    if (pods) return true;
    if (pods.error().code == Code::not_found || pods.error().code == Code::timeout) return false;
    return std::unexpected(pods.error());
}

Result<> ping_runtime(RuntimeDeadline deadline) {
    TRY(grpc::call(kSocket, "containerd.services.version.v1.Version/Version", "", deadline));
    return {};
}

Result<std::string> runtime_configuration(RuntimeDeadline deadline) {
    constexpr std::uint32_t kVerbose = 1;  // of StatusRequest
    constexpr std::uint32_t kInfo = 2;     // of StatusResponse: a map
    constexpr std::uint32_t kKey = 1;
    constexpr std::uint32_t kValue = 2;
    const auto response = TRY(call("Status", protobuf::number_field(kVerbose, 1), deadline));
    const auto entries = TRY(protobuf::fields(response, kInfo));
    for (const std::string_view entry : entries) {
        const auto key = TRY(protobuf::last_field(entry, kKey));
        if (key != "config") continue;
        const auto value = TRY(protobuf::last_field(entry, kValue));
        return std::string(value);
    }
    return "";
}

Result<std::vector<RunningContainer>> containers_in(std::string_view response) {
    constexpr std::uint32_t kSandbox = 2;      // of Container
    constexpr std::uint32_t kAnnotations = 9;  // of Container: a map
    const auto items = TRY(protobuf::fields(response, kItems));
    std::vector<RunningContainer> containers;
    containers.reserve(items.size());
    for (const std::string_view item : items) {
        const auto id = TRY(protobuf::last_field(item, kId));
        const auto pod = TRY(protobuf::last_field(item, kSandbox));
        const auto annotations = TRY(protobuf::fields(item, kAnnotations));
        if (!is_id(id)) return fail(Code::invalid, "container id: expected letters and digits");
        containers.push_back({std::string(id), std::string(pod), TRY(grace_in(annotations))});
    }
    return containers;
}

Result<std::vector<RunningContainer>> list_containers(RuntimeDeadline deadline) {
    constexpr std::uint32_t kFilter = 1;      // of ListContainersRequest
    constexpr std::uint32_t kState = 2;       // of ContainerFilter
    constexpr std::uint32_t kStateValue = 1;  // of ContainerStateValue
    constexpr std::uint64_t kRunning = 1;     // CONTAINER_RUNNING
    const std::string running = protobuf::number_field(kStateValue, kRunning);
    const auto response = TRY(call(
        "ListContainers", protobuf::field(kFilter, protobuf::field(kState, running)), deadline));
    auto containers = containers_in(response);
    if (!containers) return during("ListContainers response", containers.error());
    return containers;
}

Result<> stop_containers(const std::vector<RunningContainer>& containers,
                         RuntimeDeadline deadline) {
    constexpr std::uint32_t kContainerId = 1;  // of StopContainerRequest
    constexpr std::uint32_t kTimeout = 2;
    std::vector<std::string> messages;
    messages.reserve(containers.size());
    for (const RunningContainer& each : containers) {
        messages.push_back(
            protobuf::field(kContainerId, each.id) +
            protobuf::number_field(kTimeout, static_cast<std::uint64_t>(each.grace.count())));
    }
    crash_point("containers.stop.before");
    auto done = end_all("StopContainer", messages, deadline);
    crash_point("containers.stop.after");
    return done;
}

/// RemovePodSandbox alone fails for a pod whose network could not be removed.
Result<> remove_pods(const std::vector<std::string>& ids, RuntimeDeadline deadline) {
    std::vector<std::string> messages;
    messages.reserve(ids.size());
    for (const std::string& id : ids) messages.push_back(protobuf::field(kPodSandboxId, id));
    crash_point("pod.remove.before");
    TRY(end_all("StopPodSandbox", messages, deadline));
    crash_point("pod.remove.after");
    return end_all("RemovePodSandbox", messages, deadline);
}

}  // namespace kubexm::executor
