#include "daemon/cli/root_release.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/try.hpp"
#include "daemon/cli/client.hpp"
#include "daemon/cli/exit_code.hpp"
#include "daemon/cli/plan_end.hpp"
#include "daemon/model/owner.hpp"
#include "daemon/model/remaining.hpp"

namespace kubexm::cli {

namespace {

bool runs(const wire::Outcome& plan) { return plan.state == model::PlanState::running; }

Result<std::vector<std::string>> nodes_on_host(Client& client) {
    std::vector<std::string> nodes;
    TRY(client.ask(wire::Observe{}, {}, [&](const wire::Reply& reply) {
        const auto* observation = std::get_if<wire::Observation>(&reply);
        if (observation != nullptr) nodes = nodes_in(*observation);
    }));
    return nodes;
}

void print_what_is_left(int code) {
    constexpr const char* kReleased =
        "This host is released. kubexmd, when it starts again, keeps it so until kubexmctl resume "
        "or new orders.";
    constexpr const char* kNotReleased =
        "This host is not released: the objects above stay; kubexm-executor tries again.";
    fmt::print("{} The Node stays in the cluster: kubectl delete node removes it.\n",
               code == kDone ? kReleased : kNotReleased);
}

}  // namespace

std::vector<std::string> nodes_in(const wire::Observation& observation) {
    std::vector<std::string> nodes;
    for (const wire::ObservedOwner& owner : observation.owners) {
        if (!model::is_machine_owner(owner.name)) continue;
        if (owner.objects > 0 || std::ranges::any_of(owner.outcomes, runs)) {
            nodes.push_back(owner.name);
        }
    }
    return nodes;
}

/// One after the other: the next undo would stop the one that runs.
Result<int> release_as_root(const std::string& executor_socket) {
    Client client = TRY(Client::connect(executor_socket));
    const auto nodes = TRY(nodes_on_host(client));
    if (nodes.empty()) {
        fmt::print("No objects of a node are on this host: nothing to leave\n");
        return kDone;
    }
    int code = kDone;
    for (const std::string& node : nodes) {
        const wire::PlanSummary end = TRY(undo_owner(client, node));
        if (!model::frees_host(end.state, end.stays)) code = kFailed;
    }
    print_what_is_left(code);
    return code;
}

}  // namespace kubexm::cli
