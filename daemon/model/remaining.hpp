#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/error.hpp"

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

/// As the journal stores them; an empty list is an empty text.
std::string to_json(const std::vector<Remaining>& stays);
Result<std::vector<Remaining>> remaining_from_json(std::string_view text);

}  // namespace kubexm::model
