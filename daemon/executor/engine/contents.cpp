#include "daemon/executor/engine/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace kubexm::executor {

namespace {

constexpr std::uint64_t kMaxContent = std::uint64_t{4} << 20U;
constexpr std::uint64_t kMaxBinary = std::uint64_t{1} << 30U;

struct Need {
    std::uint64_t most = 0;  // bytes
    bool must_come = false;  // a component may be in place already: its step will tell
};

/// By digest, what the steps of a plan need.
std::map<std::string, Need> needs_of(const model::Plan& plan) {
    std::map<std::string, Need> needs;
    for (const model::Step& step : plan.steps) {
        const bool binary = std::holds_alternative<model::ComponentVersion>(step);
        for (const std::string& digest : model::contents_of(step)) {
            Need& need = needs[digest];
            need.most = std::max(need.most, binary ? kMaxBinary : kMaxContent);
            need.must_come = need.must_come || !binary;
        }
    }
    return needs;
}

}  // namespace

Result<> contents_fit(const model::Plan& plan, std::span<const Content> contents) {
    auto needs = needs_of(plan);
    for (const Content& content : contents) {
        const auto need = needs.find(content.digest);
        if (need == needs.end()) {
            return fail(Code::invalid, "content came along that no step of the plan needs");
        }
        need->second.must_come = false;
    }
    // Not from the vault, which also has what was there before us: to know the digest of a file of
    // root's is no right to have it written where others read it.
    for (const auto& [digest, need] : needs) {
        if (!need.must_come) continue;
        return fail(Code::invalid,
                    fmt::format("the content with SHA-256 {} did not come along", digest));
    }
    return {};
}

Result<> keep_contents(Vault& vault, const model::Plan& plan, std::span<Content> contents) {
    if (auto good = contents_fit(plan, contents); !good) return good;
    const auto needs = needs_of(plan);
    for (Content& content : contents) {
        auto kept = vault.store(content.bytes.get(), content.digest, needs.at(content.digest).most);
        if (!kept) return kept;
    }
    return {};
}

}  // namespace kubexm::executor
