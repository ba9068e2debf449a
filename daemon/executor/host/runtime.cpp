#include "daemon/executor/host/runtime.hpp"

#include <algorithm>
#include <cctype>

#include "daemon/base/crash_point.hpp"
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

bool is_id(std::string_view text) {
    const auto plain = [](unsigned char c) { return std::isalnum(c) != 0; };
    return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, plain);
}

Result<> end_pod(const std::string& method, const std::string& id, RuntimeDeadline deadline) {
    crash_point("pod.remove.before");
    auto done = call(method, protobuf::member(kPodSandboxId, id), deadline);
    crash_point("pod.remove.after");
    if (!done && done.error().code != Code::not_found) return std::unexpected(done.error());
    return {};
}

/// Of containerd's own API, in the namespace that is Kubernetes' there.
Result<> lease_call(const std::string& method, std::string_view message, RuntimeDeadline deadline) {
    auto done = grpc::call(kSocket, "containerd.services.leases.v1.Leases/" + method, message,
                           deadline, {{"containerd-namespace", "k8s.io"}});
    if (!done) return std::unexpected(done.error());
    return {};
}

}  // namespace

/// The end of a lease is the one thing that makes containerd collect its garbage and say when it
/// has.
Result<> clear_store(RuntimeDeadline deadline) {
    constexpr std::uint32_t kLeaseId = 1;  // of CreateRequest and DeleteRequest
    constexpr std::uint32_t kSync = 2;     // of DeleteRequest
    const std::string lease = protobuf::member(kLeaseId, "kubexm-release");
    auto made = lease_call("Create", lease, deadline);
    // There already: of one who was killed before its end.
    if (!made && made.error().code != Code::conflict) return made;
    return lease_call("Delete", lease + protobuf::flag(kSync), deadline);
}

Result<std::vector<std::string>> pods_in(std::string_view answer) {
    auto items = protobuf::members(answer, kItems);
    if (!items) return during("list of pods", items.error());
    std::vector<std::string> ids;
    for (const std::string_view item : *items) {
        auto id = protobuf::last_member(item, kId);
        if (!id) return during("pod in a list", id.error());
        if (!is_id(*id)) return fail(Code::invalid, "the id of a pod is not letters and digits");
        ids.emplace_back(*id);
    }
    std::ranges::sort(ids);
    return ids;
}

Result<std::vector<std::string>> list_pods(RuntimeDeadline deadline) {
    auto answer = call("ListPodSandbox", "", deadline);
    if (!answer) return std::unexpected(answer.error());
    return pods_in(*answer);
}

/// Removal alone would fail for a pod whose network could not be taken down.
Result<> remove_pod(const std::string& id, RuntimeDeadline deadline) {
    if (auto done = end_pod("StopPodSandbox", id, deadline); !done) return done;
    return end_pod("RemovePodSandbox", id, deadline);
}

}  // namespace kubexm::executor
