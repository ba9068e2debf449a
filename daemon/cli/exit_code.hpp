#pragma once

#include "daemon/base/error.hpp"

namespace kubexm::cli {

// The exit codes of kubexmctl, for scripts; kubexmctl --help lists them.
inline constexpr int kDone = 0;           // done, or nothing to do
inline constexpr int kUsage = 2;          // the command line or a file on it is wrong
inline constexpr int kRefused = 3;        // nothing was changed
inline constexpr int kFailed = 4;         // accepted, but not done
inline constexpr int kUnreachable = 5;    // no decision: retry later
inline constexpr int kWouldChange = 10;   // preview: the plan would change something
inline constexpr int kInterrupted = 130;  // as shells say it: 128 and SIGINT

int exit_code_of(const Error& error);

/// Prints an error of the input; returns kUsage.
int refuse_input(const Error& error);

}  // namespace kubexm::cli
