#include <fmt/format.h>

#include "daemon/base/try.hpp"
#include "daemon/executor/host/jobs.hpp"
#include "daemon/executor/host/systemd_impl.hpp"

namespace kubexm::executor {

namespace {

void add_scope(bus::MethodCall& request, const std::string& scope,
               const std::vector<std::uint32_t>& processes) {
    request.add("ss", scope.c_str(), "fail").open('a', "(sv)");
    request.open('r', "sv").add("s", "PIDs").open('v', "au").open('a', "u");
    for (const std::uint32_t process : processes) request.add("u", process);
    request.close().close().close();
    request.add("(sv)", "CollectMode", "s", "inactive-or-failed");
    request.close().add("a(sa(sv))", 0);
}

}  // namespace

Result<> Systemd::start_scope(const std::string& scope, const std::vector<std::uint32_t>& processes,
                              Deadline deadline) {
    Manager* systemd = TRY(impl_->connect_for(scope, deadline));
    auto request = systemd->request("StartTransientUnit");
    add_scope(request, scope, processes);
    auto result = run_job(*systemd, request, deadline, impl_->waits_for(scope));
    if (!result) return during("starting " + scope, result.error());
    if (*result == "done") return {};
    return fail(Code::unavailable,
                fmt::format("starting {}: the job ended with {}", scope, *result));
}

}  // namespace kubexm::executor
