#include "daemon/model/node_join.hpp"

#include "daemon/base/digest.hpp"
#include "daemon/model/plan_codec.hpp"

namespace kubexm::model {

std::string wanted_of(NodeJoin join) {
    join.client_ca_digest.clear();
    join.started_ca_digest.clear();
    join.client_digest.clear();
    join.serving_digest.clear();
    return sha256(codec::without_defaults(join).dump());
}

}  // namespace kubexm::model
