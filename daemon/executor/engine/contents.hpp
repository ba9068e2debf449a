#pragma once

#include <span>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/executor/journal/vault.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::executor {

/// Content that came with a plan.
struct Content {
    std::string digest;
    Fd bytes;
};

/// Whether everything came along that the steps need, and nothing else. invalid: what is wrong.
Result<> contents_fit(const model::Plan& plan, std::span<const Content> contents);

/// Puts what came along into the vault. invalid: it does not fit the plan, is another than
/// announced, or is too large.
Result<> keep_contents(Vault& vault, const model::Plan& plan, std::span<Content> contents);

}  // namespace kubexm::executor
