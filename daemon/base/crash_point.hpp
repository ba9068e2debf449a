#pragma once

#include <cstdint>
#include <string_view>

namespace kubexm {

// Places where the crash tests kill us. Call it right before and right after every operation that
// survives a power cut: crash_point("file.rename.before"), crash_point("file.rename.after").
//
// KUBEXM_CRASH_AT="<name>:<n>" in the environment: SIGKILL at the n-th passage of that name in
// this process, counted from 1; "<name>:<n>+<m>": m passages of whatever name later.
// KUBEXM_CRASH_TRACE=<file>: every passed name is appended to the file as a line. Any thread. Built
// without -DKUBEXM_CRASH_POINTS=ON, as packages are, it is nothing at all.
//
// With a number the name is "<name>-<number>": the beginning of one of many of the same kind.
#ifdef KUBEXM_CRASH_POINTS
void crash_point(std::string_view name);
void crash_point(std::string_view name, std::int64_t number);
#else
inline constexpr void crash_point(std::string_view /*name*/) {}
inline constexpr void crash_point(std::string_view /*name*/, std::int64_t /*number*/) {}
#endif

}  // namespace kubexm
