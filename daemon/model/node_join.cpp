#include "daemon/model/node_join.hpp"

#include "daemon/base/digest.hpp"
#include "daemon/model/codec.hpp"

namespace kubexm::model {

std::string wanted_of(NodeJoin join) {
    join.certificate_digest.clear();
    join.certificate_serial.clear();
    return sha256(codec::encode(join).dump());
}

}  // namespace kubexm::model
