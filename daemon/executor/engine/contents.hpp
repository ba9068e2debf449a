#pragma once

#include <span>
#include <string>

#include "daemon/base/error.hpp"
#include "daemon/base/fd.hpp"
#include "daemon/executor/journal/journal.hpp"
#include "daemon/executor/journal/vault.hpp"
#include "daemon/model/plan.hpp"

namespace kubexm::executor {

/// Content that came with a plan.
struct Content {
    std::string digest;
    Fd bytes;
};

/// Whether the contents are those that the steps need, and no others. invalid: names the digest.
Result<> check_contents(const model::Plan& plan, std::span<const Content> contents);

/// Puts checked contents into the vault. invalid: the bytes have another digest or are too many.
Result<> store_contents(Vault& vault, const model::Plan& plan, std::span<Content> contents);

/// Removes the content from the vault that neither an applied step nor an undo needs. Not while a
/// plan runs: a running plan needs more.
Result<> drop_unused_contents(Journal& journal, Vault& vault);

}  // namespace kubexm::executor
