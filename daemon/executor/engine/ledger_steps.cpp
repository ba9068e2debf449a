#include "daemon/executor/engine/ledger_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/try.hpp"
#include "daemon/executor/steps/pre_image.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kDigest = 64;  // characters
constexpr std::size_t kMostDigests = 8;

/// The path of the object that a step leaves on the host; empty: it leaves none at a path.
std::string place_of(const model::Step& step) {
    const bool leaves_none = std::holds_alternative<model::AbsentPath>(step) ||
                             std::holds_alternative<model::DeletedTree>(step) ||
                             std::holds_alternative<model::Unmounted>(step) ||
                             std::holds_alternative<model::Claim>(step);
    return leaves_none ? "" : model::path_of(step);
}

/// One that this version cannot read is where its target says.
std::string place_of(const LedgerEntry& entry, const LedgerOwner& owner) {
    const auto step = model::step_from_json(owner.step);
    return step ? place_of(*step) : entry.target;
}

}  // namespace

Result<std::optional<model::Step>> applied_step(const LedgerEntry& entry) {
    if (entry.applied.empty()) return std::nullopt;
    auto step = model::step_from_json(entry.applied);
    if (!step) return fail(Code::corrupt, "step in the ledger: " + step.error().what);
    return *std::move(step);
}

Result<std::string> written_with(const std::optional<LedgerEntry>& entry, const model::Step& next) {
    const std::string digest = TRY(written_by(next));
    std::string written = entry ? entry->written : "";
    if (written.contains(digest)) return written;
    written += digest;
    const std::size_t excess = written.size() - std::min(written.size(), kMostDigests * kDigest);
    return written.substr(excess);
}

std::vector<std::string> digests_in(const std::string& written) {
    std::vector<std::string> digests;
    for (std::size_t at = 0; at < written.size(); at += kDigest) {
        digests.push_back(written.substr(at, kDigest));
    }
    return digests;
}

Result<std::vector<OutcomeRecord>> failed_undos(Journal& journal) {
    auto newest_first = TRY(journal.outcomes());
    std::set<std::string> seen;
    std::erase_if(newest_first, [&](const OutcomeRecord& outcome) {
        const bool is_newest = seen.insert(outcome.owner).second;
        return !is_newest || outcome.purpose != PlanPurpose::release ||
               outcome.state != PlanState::failed;
    });
    return newest_first;
}

Result<std::set<std::string>> leaving_owners(Journal& journal) {
    std::set<std::string> owners;
    const auto failed = TRY(failed_undos(journal));
    for (const OutcomeRecord& undo : failed) owners.insert(undo.owner);
    return owners;
}

std::vector<std::string> paths_of_others(const std::vector<LedgerEntry>& ledger,
                                         const std::string& owner,
                                         const std::set<std::string>& leaving) {
    std::vector<std::string> paths;
    for (const LedgerEntry& entry : ledger) {
        for (const LedgerOwner& other : entry.owners) {
            if (other.owner != owner && !leaving.contains(other.owner)) {
                paths.push_back(place_of(entry, other));
            }
        }
    }
    std::erase(paths, "");
    return paths;
}

bool was_created(const LedgerEntry& entry) {
    const auto image = image_from_json(entry.pre_image);
    const auto* path = image ? std::get_if<PathPreImage>(&*image) : nullptr;
    return path != nullptr && path->kind == PathKind::absent;
}

bool is_undone_last(const LedgerEntry& entry) {
    const auto step = model::step_from_json(entry.step);
    return step && model::traits_of(*step).undo_order == model::UndoOrder::last;
}

std::string object_of(const LedgerEntry& entry) {
    const auto step = model::step_from_json(entry.step);
    return step ? model::object_of(*step) : fmt::format("{} {}", entry.type, entry.target);
}

}  // namespace kubexm::executor
