#include "daemon/cli/node_owners.hpp"

#include "daemon/base/text.hpp"
#include "daemon/base/try.hpp"
#include "daemon/cli/client.hpp"
#include "daemon/model/owner.hpp"

namespace kubexm::cli {

Result<OwnerNames> node_owners(const std::string& executor_socket) {
    Client client = TRY(Client::connect(executor_socket));
    OwnerNames names;
    TRY(client.ask(wire::Observe{}, {}, [&](const wire::Reply& reply) {
        const auto* observation = std::get_if<wire::Observation>(&reply);
        if (observation == nullptr) return false;
        for (const wire::ObservedOwner& owner : observation->owners) {
            if (owner.objects > 0 && model::is_machine_owner(owner.name))
                names.push_back(owner.name);
        }
        return false;
    }));
    return names;
}

std::string without_kubexmd(const Result<OwnerNames>& owners) {
    if (!owners) return "The objects of a node on this host are not known: " + owners.error().what;
    if (owners->empty()) return "No objects of a node are on this host.";
    std::string text =
        "Without kubexmd, root can restore this host; its Node stays in the cluster:";
    for (const std::string& owner : *owners) text += "\n    kubexmctl undo " + printable(owner);
    return text;
}

}  // namespace kubexm::cli
