#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/journal/records.hpp"
#include "daemon/model/plan.hpp"

// The steps that entries of the ledger contain. Private to this module. corrupt: not readable.

namespace kubexm::executor {

/// The step that was last applied to an object, if any.
Result<std::optional<model::Step>> applied_step(const LedgerEntry& entry);

/// LedgerEntry::written once `next` is prepared. Steps may be prepared and never applied: the last
/// few digests are kept.
Result<std::string> written_with(const std::optional<LedgerEntry>& entry, const model::Step& next);
/// The digests in it.
std::vector<std::string> digests_in(const std::string& written);

/// The newest owner of an entry besides `owner`; null: none.
const LedgerOwner* newest_other(const LedgerEntry& entry, std::string_view owner);

/// Whether nothing was at the path of the object before its first step.
bool was_created(const LedgerEntry& entry);

bool is_undone_last(const LedgerEntry& entry);
/// For a person: "file /etc/hosts".
std::string object_of(const LedgerEntry& entry);

}  // namespace kubexm::executor
