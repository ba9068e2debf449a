#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"

namespace kubexm::executor {

struct KernelRoute {
    std::string name;     // "10.244.1.0/24 via 10.0.0.2 dev eth0 type 1 table 254 proto 80"
    std::string message;  // of the kernel

    bool operator==(const KernelRoute&) const = default;
};

/// The routes of a protocol ("80"), in all tables; on one link only, unless `link` is empty. The
/// kernel filters: a routing daemon may have a million of them.
Result<std::vector<KernelRoute>> list_routes(std::uint8_t protocol, const std::string& link);

/// Success also where the route is absent.
Result<> delete_route(const KernelRoute& route);

}  // namespace kubexm::executor
