#include "daemon/executor/engine/ledger_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "daemon/base/try.hpp"
#include "daemon/executor/steps/pre_image.hpp"
#include "daemon/executor/steps/steps.hpp"

namespace kubexm::executor {

namespace {

constexpr std::size_t kDigest = 64;  // characters
constexpr std::size_t kMostDigests = 8;

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

const LedgerOwner* newest_other(const LedgerEntry& entry, std::string_view owner) {
    const auto others = std::views::reverse(entry.owners);
    const auto newest = std::ranges::find_if(
        others, [&](const LedgerOwner& other) { return other.owner != owner; });
    return newest == others.end() ? nullptr : &*newest;
}

bool was_created(const LedgerEntry& entry) {
    const auto image = image_from_json(entry.pre_image);
    const auto* path = image ? std::get_if<PathPreImage>(&*image) : nullptr;
    return path != nullptr && path->kind == "absent";
}

bool is_undone_last(const LedgerEntry& entry) {
    const auto step = model::step_from_json(entry.step);
    return step && model::traits_of(*step).undo == model::Undo::last;
}

std::string object_of(const LedgerEntry& entry) {
    const auto step = model::step_from_json(entry.step);
    return step ? model::object_of(*step) : fmt::format("{} {}", entry.type, entry.target);
}

}  // namespace kubexm::executor
