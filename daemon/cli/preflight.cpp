#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>

#include "daemon/base/try.hpp"
#include "daemon/cli/client.hpp"
#include "daemon/cli/commands.hpp"
#include "daemon/cli/exit_code.hpp"

namespace kubexm::cli {

namespace {

using model::Finding;

void show(const Finding& finding) {
    fmt::print("{:<8} {}\n", name_of(finding.severity), name_of(finding.id));
    fmt::print("  found   {}\n  needed  {}\n  remedy  {}\n", finding.found, finding.needed,
               finding.remedy);
}

/// The executor does not see it change: it has a copy of its own (ProtectHostname=).
std::string host_name() {
    utsname system{};
    return ::uname(&system) == 0 ? system.nodename : "";
}

}  // namespace

Result<int> preflight(const std::string& socket, std::uint32_t minor, bool as_json) {
    Client client = TRY(Client::connect(socket));
    wire::PreflightResult result;
    TRY(client.ask(wire::Preflight{{.node_name = host_name(), .minor = minor}}, {},
                   [&](const wire::Reply& reply) {
                       if (const auto* found = std::get_if<wire::PreflightResult>(&reply))
                           result = *found;
                   }));
    const auto errors =
        std::ranges::count(result.findings, model::Severity::error, &Finding::severity);
    if (as_json) {
        fmt::print("{}\n", wire::to_json(result));
    } else {
        for (const Finding& finding : result.findings) show(finding);
        fmt::print("{}\n", errors == 0 ? "This host is ready for a join."
                                       : "This host is not ready for a join.");
    }
    return errors == 0 ? kDone : kFailed;
}

}  // namespace kubexm::cli
