#pragma once

#include <cstdint>
#include <span>

#include "daemon/base/error.hpp"
#include "daemon/executor/engine/contents.hpp"
#include "daemon/executor/engine/record_store.hpp"

namespace kubexm::executor {

/// What the user of kubexmd may use: it can neither fill the disk nor push its deeds out of the
/// audit. Root has no quota, and giving objects back needs none.
struct Quota {
    std::int64_t entries = 4000;                        // of the ledger
    std::int64_t owners = 64;                           // with objects on the host
    std::int64_t vault_bytes = std::int64_t{1} << 30U;  // of file content
    std::int64_t offers = 1000;                         // plans in an hour
};

/// Of all users, but for the offers.
struct Usage {
    std::int64_t entries = 0;
    std::int64_t owners = 0;
    std::int64_t vault_bytes = 0;
    std::int64_t offers = 0;
    std::int64_t first_offer_at = 0;  // of these
};

/// What a plan may add.
struct Demand {
    std::int64_t entries = 0;
    std::int64_t owners = 0;
    std::int64_t vault_bytes = 0;
};

/// Pure. exhausted: names the limit, what is used, and when or how it becomes free.
Result<> within(const Quota& quota, const Usage& usage, const Demand& demand, std::int64_t now);

Result<Usage> usage_of(Records& records, std::uint32_t uid);
Result<Demand> demand_of(Records& records, const model::Plan& plan,
                         std::span<const Content> contents);

}  // namespace kubexm::executor
