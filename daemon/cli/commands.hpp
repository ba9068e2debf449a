#pragma once

#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/wire/messages.hpp"

namespace kubexm::cli {

// What kubexmctl does with the executor; each prints to standard output and returns an exit code.

/// What a plan in a file would change, as text with diffs; nothing is changed.
enum class Output { text, json, diff };
Result<int> preview(const std::string& socket, const std::string& plan_file, Output output);

/// Carries out a plan and shows its steps as they happen. `contents` are files that hold what the
/// plan names by digest. 1: it did not come to its end.
Result<int> apply(const std::string& socket, const std::string& plan_file,
                  const std::vector<std::string>& contents, bool replace);

/// Shows the steps of a plan as they happen, or as they happened.
Result<int> follow(const std::string& socket, const std::string& plan_id);

/// Lets a running plan stop at its next step.
Result<int> cancel(const std::string& socket, const std::string& plan_id);

/// Takes back everything that is on the host for an owner.
Result<int> undo(const std::string& socket, const std::string& owner);

/// The last plans, newest first.
Result<int> history(const std::string& socket, unsigned limit);

/// What is in the journal; with a decision, what is in it then.
Result<int> journal(const std::string& socket, wire::JournalAction action);

/// Units and owners, as JSON.
Result<int> observe(const std::string& socket);

}  // namespace kubexm::cli
