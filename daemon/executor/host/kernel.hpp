#pragma once

#include <string>
#include <vector>

#include "daemon/base/error.hpp"
#include "daemon/executor/host/files.hpp"

namespace kubexm::executor {

/// A kernel parameter by its dotted key, in which a dot of an interface's name is a slash, without
/// the final newline; tabs between numbers are blanks. not_found: this kernel has no such key.
Result<std::string> read_sysctl(const Root& root, const std::string& key);

/// Writes a parameter. What the kernel made of it is for the caller to read back.
Result<> write_sysctl(const Root& root, const std::string& key, const std::string& value);

/// Whether a module is loaded or built in.
Result<bool> module_loaded(const Root& root, const std::string& name);

}  // namespace kubexm::executor
