#pragma once

#include <cstdint>
#include <string_view>

namespace kubexm {

// Places where crash tests kill the process: right before and right after every durable operation,
// as in crash_point("file.rename.before"), crash_point("file.rename.after").
//
// KUBEXM_CRASH_AT="<name>:<n>" in the environment: SIGKILL at the n-th passage of that name in
// this process, counted from 1; "<name>:<n>+<m>": m passages of any name later.
// KUBEXM_CRASH_TRACE=<file>: appends every passed name to the file as a line. Any thread. Without
// -DKUBEXM_CRASH_POINTS=ON, as in packages, a crash point is no code.
//
// With a number the name is "<name>-<number>".
#ifdef KUBEXM_CRASH_POINTS
void crash_point(std::string_view name);
void crash_point(std::string_view name, std::int64_t number);
#else
inline constexpr void crash_point(std::string_view /*name*/) {}
inline constexpr void crash_point(std::string_view /*name*/, std::int64_t /*number*/) {}
#endif

}  // namespace kubexm
