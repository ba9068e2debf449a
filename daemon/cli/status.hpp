#pragma once

#include <string>

#include "daemon/base/error.hpp"

namespace kubexm::cli {

// What kubexmctl asks of kubexmd; each prints to standard output and returns an exit code.

/// `json`: what the API answers, as it is.
enum class Form { text, json };

/// How this host is.
Result<int> status(const std::string& socket, Form form);

/// The steps of the plan that runs, or of the last one. not_found: there is none.
Result<int> plan(const std::string& socket, Form form);

}  // namespace kubexm::cli
