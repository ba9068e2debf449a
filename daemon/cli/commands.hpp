#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/wire/messages.hpp"

namespace kubexm::cli {

// Commands to the executor; each prints to standard output and returns an exit code.

/// Shows the changes that a plan would make; makes none. kWouldChange: a step does not hold.
enum class Output { text, json, diff };
Result<int> preview(const std::string& socket, const std::string& plan_file, Output output);

struct PreflightSockets {
    std::string executor;
    std::string api;  // of kubexmd
};

/// Shows the checks before a join that fail: those of the executor now, and the findings of
/// kubexmd. `minor`: 34 for Kubernetes 1.34; 0: any. kFailed: one of them refuses a join.
Result<int> preflight(const PreflightSockets& sockets, std::uint32_t minor, bool as_json);

/// Runs a plan and shows its steps. `contents` are files with the content that the plan names by
/// digest. kFailed: the plan is not done.
Result<int> apply(const std::string& socket, const std::string& plan_file,
                  const std::vector<std::string>& contents, bool replace);

/// Shows the steps of a plan to its end. kFailed: it is neither done nor undone.
Result<int> follow(const std::string& socket, const std::string& plan_id);

/// Stops a running plan before its next step.
Result<int> cancel(const std::string& socket, const std::string& plan_id);

/// Undoes everything on the host that belongs to an owner.
Result<int> undo(const std::string& socket, const std::string& owner);

/// The last plans, newest first.
Result<int> history(const std::string& socket, unsigned limit);

/// Shows the journal, after a decision the result of it. kFailed: the journal is damaged.
Result<int> journal(const std::string& socket, wire::JournalAction action);

/// Trusts the CAs of a PEM file on this host, and shows them.
Result<int> trust_ca(const std::string& socket, const std::string& file);

/// Units and owners, as JSON.
Result<int> observe(const std::string& socket);

}  // namespace kubexm::cli
