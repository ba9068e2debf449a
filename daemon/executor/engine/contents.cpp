#include "daemon/executor/engine/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "daemon/base/refusal.hpp"
#include "daemon/base/try.hpp"
#include "daemon/executor/steps/pre_image.hpp"

namespace kubexm::executor {

namespace {

struct Need {
    std::uint64_t limit = 0;  // bytes
    bool required = false;
};

/// By digest, the contents that the steps of a plan need.
std::map<std::string, Need> needs_of(const model::Plan& plan) {
    std::map<std::string, Need> needs;
    for (const model::Step& step : plan.steps) {
        const model::StepContent& content = model::traits_of(step).content;
        for (const std::string& digest : model::describe(step).digests) {
            Need& need = needs[digest];
            need.limit = std::max(need.limit, content.limit);
            need.required = need.required || !content.may_be_installed;
        }
    }
    return needs;
}

}  // namespace

Result<> check_contents(const model::Plan& plan, std::span<const Content> contents) {
    auto needs = needs_of(plan);
    for (const Content& content : contents) {
        const auto need = needs.find(content.digest);
        if (need == needs.end()) {
            return fail(Code::invalid, fmt::format("content {:.64}: no step of the plan needs it",
                                                   content.digest));
        }
        need->second.required = false;
    }
    // The vault does not count: it also holds pre-images, and knowing the digest of a file of root
    // must not be enough to have it written to a readable place.
    for (const auto& [digest, need] : needs) {
        if (!need.required) continue;
        TRY(refusal("contents", Code::invalid,
                    fmt::format("content {} is missing: send it with the plan", digest)));
    }
    return {};
}

Result<> store_contents(Vault& vault, const model::Plan& plan, std::span<Content> contents) {
    const auto needs = needs_of(plan);
    for (Content& content : contents) {
        TRY(vault.store(content.bytes.get(), content.digest, needs.at(content.digest).limit));
    }
    return {};
}

Result<> drop_unused_contents(Journal& journal, Vault& vault) {
    const auto entries = TRY(journal.ledger(""));
    std::vector<std::string> needed;
    const auto need = [&](const std::vector<std::string>& digests) {
        needed.insert(needed.end(), digests.begin(), digests.end());
    };
    for (const LedgerEntry& entry : entries) {
        const auto image = image_from_json(entry.pre_image);
        if (!image) return {};  // the needs of an unreadable entry are unknown
        need(contents_of(*image));
        // Of the applied step, which a repair applies again: after a change that failed it is no
        // owner's. Of each owner's, which is applied when the others go.
        std::vector<std::string_view> steps{entry.applied};
        for (const LedgerOwner& owner : entry.owners) steps.push_back(owner.step);
        for (const std::string_view text : steps) {
            if (text.empty()) continue;
            const auto step = model::step_from_json(text);
            if (!step) return {};
            if (!model::traits_of(*step).content.may_be_installed) {
                need(model::describe(*step).digests);
            }
        }
    }
    return vault.retain(needed);
}

}  // namespace kubexm::executor
