#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/model/plan_states.hpp"

namespace kubexm::model {

/// An object that an undo could not restore.
struct Remaining {
    std::string object;        // "file /etc/cni/net.d/10-x.conf"
    std::string why;           // with the next step for a person
    bool blocks_join = false;  // would harm the next join: a running pod, a mount, a unit of ours

    bool operator==(const Remaining&) const = default;
    static void fields(auto& self, auto&& visit) {
        visit("object", self.object);
        visit("why", self.why);
        visit("blocks_join", self.blocks_join);
    }
};

/// Whether an undo in `state` with these remaining objects has left a host that can join again:
/// none of them would harm that. An undo that failed or was stopped lists everything that it did
/// not do. Pure.
bool frees_host(PlanState state, const std::vector<Remaining>& stays);

/// The objects that an undo left, as far as a record can name them.
struct Stays {
    std::vector<Remaining> named;
    std::uint32_t unnamed = 0;  // objects that stay, too

    static void fields(auto& self, auto&& visit) {
        visit("named", self.named);
        visit("unnamed", self.unnamed);
    }
};

/// As the journal stores them, the first ones by name: `stays` begins with those that harm the next
/// join. An empty list is an empty text.
std::string to_json(std::vector<Remaining> stays);
Result<Stays> stays_from_json(std::string_view text);

}  // namespace kubexm::model
