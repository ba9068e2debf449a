#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/journal/journal.hpp"
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

/// The undos that failed, of owners without a newer plan.
Result<std::vector<OutcomeRecord>> failed_undos(Journal& journal);
/// Their owners, who want nothing that is left.
Result<std::set<std::string>> leaving_owners(Journal& journal);

/// The paths of the objects that other owners have on the host, without those who leave.
std::vector<std::string> paths_of_others(const std::vector<LedgerEntry>& ledger,
                                         const std::string& owner,
                                         const std::set<std::string>& leaving);

/// Whether nothing was at the path of the object before its first step.
bool was_created(const LedgerEntry& entry);

bool is_undone_last(const LedgerEntry& entry);
/// For a person: "file /etc/hosts".
std::string object_of(const LedgerEntry& entry);

}  // namespace kubexm::executor
