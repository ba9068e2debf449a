#pragma once

#include <string>

#include "daemon/base/error.hpp"

namespace kubexm::cli {

// Queries to kubexmd; each prints to standard output and returns an exit code.

/// `json`: the document of the API.
enum class Form { text, json };

Result<int> status(const std::string& socket, Form form);

/// The running plan, or the last one. not_found: there is none.
Result<int> plan(const std::string& socket, Form form);

/// The certificates of this host, and what happens to them next.
Result<int> certificates(const std::string& socket, Form form);

}  // namespace kubexm::cli
