#pragma once

#include <span>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/hands/journal/vault.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::hands {

/// Content that came with a plan.
struct Content {
    std::string digest;
    Fd bytes;
};

/// Puts what came along into the vault. invalid: some is missing, is another than announced, is too
/// large, or is needed by no step.
Result<> keep_contents(Vault& vault, const model::Plan& plan, std::span<Content> contents);

}  // namespace kubexm::hands
