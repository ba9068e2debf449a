#pragma once

#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/host/files.hpp"

namespace kubexm::executor {

/// A kernel parameter by its dotted key, with a slash for a dot in the name of an interface.
/// Without the final newline, with blanks for tabs. not_found: this kernel has no such key.
Result<std::string> read_sysctl(const Root& root, const std::string& key);

/// Writes a parameter. The kernel may store another value: read it back.
Result<> write_sysctl(const Root& root, const std::string& key, const std::string& value);

/// Whether a module is loaded or built in.
Result<bool> module_loaded(const Root& root, const std::string& name);

}  // namespace kubexm::executor
