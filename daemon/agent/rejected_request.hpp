#pragma once

#include <optional>
#include <string>

#include "daemon/agent/context.hpp"
#include "daemon/base/error.hpp"

namespace kubexm::agent {

// AgentState::rejections: a person or a signer has said no, and is not asked again at once.

/// Why no certificate may be requested with this key file yet; nothing: one may.
std::optional<Error> rejection_of(const AgentContext& context, const std::string& key_file);

/// A request was denied, or its certificate is not as it was requested. Drops the key, because a
/// denied name stays denied; returns the error to report.
Error reject(AgentContext& context, const std::string& key_file, const Error& why);

/// A certificate was issued, or a person or other bootstrap credentials ask anew.
void forget_rejection(AgentContext& context, const std::string& key_file);

}  // namespace kubexm::agent
