#include "daemon/model/node_join.hpp"

#include "daemon/base/digest.hpp"
#include "daemon/model/codec.hpp"

namespace kubexm::model {

std::string wanted_of(NodeJoin join) {
    join.client_ca_digest.clear();
    join.client_digest.clear();
    join.serving_digest.clear();
    return sha256(codec::encode(join).dump());
}

}  // namespace kubexm::model
