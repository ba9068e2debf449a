#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/engine/contents.hpp"
#include "daemon/executor/engine/record_store.hpp"

namespace kubexm::executor {

/// Limits for user kubexm: its plans must not fill the disk, nor push older records out of the
/// audit. Root has no quota, and an undo needs none.
struct Quota {
    std::int64_t entries = 4000;                        // of the ledger
    std::int64_t owners = 64;                           // with objects on the host
    std::int64_t vault_bytes = std::int64_t{1} << 30U;  // of file content, each content once
    std::int64_t file_bytes = std::int64_t{64} << 20U;  // of the files with it, each path
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

/// The records, objects and bytes that a plan may add.
struct Demand {
    std::int64_t entries = 0;
    std::int64_t owners = 0;
    std::int64_t vault_bytes = 0;
};

/// Pure. exhausted: names the limit, the use, and when or how it becomes free.
Result<> within(const Quota& quota, const Usage& usage, const Demand& demand, std::int64_t now);

/// The same for the content of a plan: the sizes of its files are only known when they are stored.
/// Pure.
Result<> within_vault(const Quota& quota, std::int64_t before, std::int64_t after);

/// The same for the files that are on the host when the plan is carried out. Pure.
Result<> within_files(const Quota& quota, std::int64_t before, std::int64_t after);

/// What the files of the ledger's objects hold, and what they will hold after the plan. All its
/// content is stored.
struct FileBytes {
    std::int64_t before = 0;
    std::int64_t after = 0;
};
Result<FileBytes> file_bytes(Records& records, const model::Plan& plan);

/// The objects of a plan that its owner's entries do not have. Pure.
std::int64_t new_objects(const model::Plan& plan, const std::vector<LedgerEntry>& entries);

Result<Usage> usage_of(Records& records, std::uint32_t uid);
Result<Demand> demand_of(Records& records, const model::Plan& plan,
                         std::span<const Content> contents);

}  // namespace kubexm::executor
