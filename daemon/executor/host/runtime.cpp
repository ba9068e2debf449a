#include "daemon/executor/host/runtime.hpp"

#include <algorithm>

#include "daemon/base/crash_point.hpp"
#include "daemon/base/scan.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/host/grpc.hpp"
#include "daemon/executor/host/protobuf.hpp"

// https://github.com/kubernetes/cri-api/blob/master/pkg/apis/runtime/v1/api.proto

namespace kubexm::executor {

namespace {

constexpr const char* kSocket = "/run/containerd/containerd.sock";
constexpr std::uint32_t kItems = 1;         // of ListPodSandboxResponse
constexpr std::uint32_t kId = 1;            // of PodSandbox
constexpr std::uint32_t kPodSandboxId = 1;  // of StopPodSandboxRequest and RemovePodSandboxRequest

Result<std::string> call(const std::string& method, std::string_view message,
                         RuntimeDeadline deadline) {
    return grpc::call(kSocket, "runtime.v1.RuntimeService/" + method, message, deadline);
}

bool is_id(std::string_view text) { return text.size() <= 128 && made_of(text, is_alphanumeric); }

Result<> end_pod(const std::string& method, const std::string& id, RuntimeDeadline deadline) {
    crash_point("pod.remove.before");
    auto done = call(method, protobuf::field(kPodSandboxId, id), deadline);
    crash_point("pod.remove.after");
    if (!done && done.error().code != Code::not_found) return std::unexpected(done.error());
    return {};
}

/// containerd's own API, in the namespace of Kubernetes.
Result<> lease_call(const std::string& method, std::string_view message, RuntimeDeadline deadline) {
    TRY(grpc::call(kSocket, "containerd.services.leases.v1.Leases/" + method, message, deadline,
                   {{"containerd-namespace", "k8s.io"}}));
    return {};
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
    return lease_call("Delete", lease + protobuf::true_field(kSync), deadline);
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

Result<> ping_runtime(RuntimeDeadline deadline) {
    TRY(grpc::call(kSocket, "containerd.services.version.v1.Version/Version", "", deadline));
    return {};
}

Result<std::string> runtime_configuration(RuntimeDeadline deadline) {
    constexpr std::uint32_t kVerbose = 1;  // of StatusRequest
    constexpr std::uint32_t kInfo = 2;     // of StatusResponse: a map
    constexpr std::uint32_t kKey = 1;
    constexpr std::uint32_t kValue = 2;
    const auto response = TRY(call("Status", protobuf::true_field(kVerbose), deadline));
    const auto entries = TRY(protobuf::fields(response, kInfo));
    for (const std::string_view entry : entries) {
        const auto key = TRY(protobuf::last_field(entry, kKey));
        if (key != "config") continue;
        const auto value = TRY(protobuf::last_field(entry, kValue));
        return std::string(value);
    }
    return "";
}

/// RemovePodSandbox alone fails for a pod whose network could not be removed.
Result<> remove_pod(const std::string& id, RuntimeDeadline deadline) {
    TRY(end_pod("StopPodSandbox", id, deadline));
    return end_pod("RemovePodSandbox", id, deadline);
}

}  // namespace kubexm::executor
