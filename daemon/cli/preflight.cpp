#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>

#include "daemon/base/codec.hpp"
#include "daemon/base/try.hpp"
#include "daemon/cli/api_client.hpp"
#include "daemon/cli/client.hpp"
#include "daemon/cli/commands.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/json_document.hpp"
#include "daemon/cli/preflight_text.hpp"

namespace kubexm::cli {

namespace {

using model::CheckId;
using model::Finding;

/// The executor does not see it change: it has a copy of its own (ProtectHostname=).
std::string host_name() {
    utsname system{};
    return ::uname(&system) == 0 ? system.nodename : "";
}

bool is_seen_by_kubexmd(const Finding& finding) {
    const auto seen = {CheckId::api_server, CheckId::clock, CheckId::name_lookup};
    return std::ranges::find(seen, finding.id) != seen.end();
}

/// The findings about the network, which the executor does not have.
Result<std::vector<Finding>> findings_of_kubexmd(const std::string& socket) {
    const nlohmann::json status = TRY(ask_api(socket, "/v1/status"));
    std::vector<Finding> findings;
    TRY(codec::decode(member(status, "preflight"), findings,
                      {.path = "preflight", .members = codec::Members::any}));
    std::erase_if(findings, [](const Finding& each) { return !is_seen_by_kubexmd(each); });
    return findings;
}

Result<wire::PreflightResult> result_of_executor(const std::string& socket, std::uint32_t minor) {
    Client client = TRY(Client::connect(socket));
    wire::PreflightResult result;
    TRY(client.ask(wire::Preflight{{.node_name = host_name(), .minor = minor}}, {},
                   [&](const wire::Reply& reply) {
                       if (const auto* found = std::get_if<wire::PreflightResult>(&reply))
                           result = *found;
                   }));
    return result;
}

}  // namespace

Result<int> preflight(const PreflightSockets& sockets, std::uint32_t minor, bool as_json) {
    wire::PreflightResult result = TRY(result_of_executor(sockets.executor, minor));
    const auto seen = findings_of_kubexmd(sockets.api);
    if (seen) result.findings.insert(result.findings.end(), seen->begin(), seen->end());
    if (!seen) {
        fmt::print(stderr, "not checked: API server, clock, name lookup: {}\n", seen.error().what);
    }
    const auto errors =
        std::ranges::count(result.findings, model::Severity::error, &Finding::severity);
    if (as_json) {
        fmt::print("{}\n", wire::to_json(result));
    } else {
        fmt::print("{}", preflight_text(result.findings));
    }
    return errors == 0 ? kDone : kFailed;
}

}  // namespace kubexm::cli
